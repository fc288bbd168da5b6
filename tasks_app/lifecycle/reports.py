"""What is reported about a task that somebody else has: decided under the lock of its row, and answered once.

The same report again gets the same answer, and another one about the same run is refused; both for as long as answers
are kept. Telling who may report is the caller's business.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from tasks_app.core.away import Run, checked_lease
from tasks_app.core.confidential import own_words
from tasks_app.core.errors import InvalidTask, NotAway, NotThere, checked_tags, shown
from tasks_app.core.phrases import first_line
from tasks_app.core.progress import checked_fraction, clean_note
from tasks_app.core.result import NotKept, result_text
from tasks_app.core.states import Status
from tasks_app.database import atomic
from tasks_app.models import IdempotencyRecord, ScheduleTask
from tasks_app.models.schedule_task import TaskFields
from tasks_app.sealing import keyring
from tasks_app.sql import run

from .anywhere import task_by_id
from .audit import Entry, Operator, audit
from .away import COMPLETE, FAIL, Completed, Failed, Home, complete, fail
from .confidential import Cipher, cipher_of
from .settle import ERROR_CODE_LENGTH, ERROR_MSG_LENGTH, clean

TAKEN = 200  # to the caller of the API
PURPOSE = "reports"  # of the key that tells whether a report about an encrypted task is the same again


class _Row(NamedTuple):
    status: str
    batch_no: object
    ran_in: object
    envelope: str | None = None  # of its payload, if that is encrypted


def checked_completed(result: object) -> Completed:
    """Raises InvalidTask if the result is too large to be kept, or has something in it that can't be."""
    if result is not None:
        try:
            result_text(result)
        except NotKept as why:
            raise InvalidTask(f"result: {why}. Keep it in a place of your own, and report where that is.") from None
    return Completed(result)


def checked_failed(code: str, message: str, *, retryable: bool, retry_after: float | None, tags: object) -> Failed:
    if not code.strip():
        raise InvalidTask("code: it is empty; give a word for programs, such as 'NO_SUCH_FILE'.")
    if retry_after is not None and not retryable:
        raise InvalidTask(f"retry_after={shown(retry_after)} is given with retryable=false. Leave one of them out.")
    return Failed(
        clean(code, ERROR_CODE_LENGTH),
        own_words(clean(message, ERROR_MSG_LENGTH)),
        not retryable,
        retry_after,
        checked_tags(tags),
    )


def report(
    about: Run,
    said: Completed | Failed,
    operator: Operator | None = None,
    release: Callable[[Sequence[int]], object] | None = None,
) -> dict[str, Any]:
    """Write the outcome of a run that is away, or about to be, and say what came of it; the same again, if it is.

    Raises NotAway with what is true, or NotThere. If the worker has not written yet that the task is away, its status
    is still RUNNING, and the outcome counts when it has.

    `operator`: not whoever has the task says so, but somebody else, which is written down. `release` is told of the
    task if it is over and others wait for it.
    """
    outcome = COMPLETE if isinstance(said, Completed) else FAIL
    with atomic():
        row = _locked(about)
        record = {"tenant": about.tenant, "key": _key(about)}
        before = IdempotencyRecord.objects.filter(**record).first()
        cipher = None if row is None or row.envelope is None else cipher_of(about.tenant, about.task, row.envelope)
        if before is not None:
            if not _is_same(before.fingerprint, outcome, said):
                raise NotAway(_reported_before(about, before.answer), task_by_id(about.task))
            taken: dict[str, Any] = before.answer
            return taken
        home = _write(about, row, outcome, said if cipher is None else _hidden(said, cipher))
        if release is not None and home is not None and home.waited_for:
            release([home.id])
        answer = _body(about, outcome, home)
        if operator is not None:
            _audit(about, outcome, answer["status"], operator)
        proof = _fingerprint(outcome, said, hidden=cipher is not None)
        IdempotencyRecord.objects.create(**record, fingerprint=proof, status=TAKEN, answer=answer)
    return answer


def report_progress(
    about: Run, *, fraction: float | None = None, note: str = "", lease: float | None = None
) -> datetime | None:
    """Whoever has the task is still at work, and gets more time: until when, or None if it is only about to be away.

    Raises NotAway with what is true, or NotThere.
    """
    seconds = None if lease is None else checked_lease(lease, "")
    told = {"fraction": checked_fraction(fraction), "note": clean_note(note)}
    with atomic():
        row = _locked(about)
        if row is None or not (_is_away(row, about) or _is_running(row, about)):
            raise _not_away(about)
        if row.envelope is not None:
            told["note"] = ""  # of an encrypted task, how far it is, without words
        if fraction is not None or note:
            run("report_progress", {"task": about.task, "run": about.run} | told)
        until = run("renew_away", {"task": about.task, "run": about.run, "lease": seconds})
    return until[0][0] if until else None


def _write(about: Run, row: _Row | None, outcome: str, said: Completed | Failed) -> Home | None:
    """None: it is kept until the worker has written that the task is away."""
    if row is not None and _is_away(row, about):
        if isinstance(said, Completed):
            [home] = complete(about.run, [(about.task, said)])
        else:
            [home] = fail(about.run, [(about.task, said)])
        return home
    if row is not None and _is_running(row, about):
        kept = {"task": about.task, "run": about.run, "outcome": outcome, "body": json.dumps(said._asdict())}
        if not run("keep_report", kept):
            raise _not_away(about)
        return None
    raise _not_away(about)


def _locked(about: Run) -> _Row | None:
    """Its row; None if it is not among what is live."""
    rows = run("lock_run", {"task": about.task, "tenant": about.tenant, "token": about.token})
    return _Row(*rows[0]) if rows else None


def _is_away(row: _Row, about: Run) -> bool:
    return row.status == Status.AWAY and row.ran_in == about.run


def _is_running(row: _Row, about: Run) -> bool:
    """Its handler has been called, or will be, and what comes of that is not written yet."""
    return row.status == Status.RUNNING and row.batch_no == about.run


def _body(about: Run, outcome: str, home: Home | None) -> dict[str, Any]:
    return {
        "task": about.task,
        "outcome": outcome,
        "status": Status.RUNNING if home is None else home.status,
        "due_at": None if home is None or home.due is None else home.due.isoformat(),
    }


def _audit(about: Run, outcome: str, status: str, operator: Operator) -> None:
    task_type = ScheduleTask.objects.values_list("task_type", flat=True).get(id=about.task)
    audit(operator, outcome, [Entry(f"task {about.task}", status, about.task, None, about.tenant, task_type)])


def _key(about: Run) -> str:
    """No caller of the API can give such a key: theirs don't begin with a space."""
    return f" report {about.task} {about.run}"


def _fingerprint(outcome: str, said: Completed | Failed, *, hidden: bool) -> str:
    """Of an encrypted task it is made with a key: nobody can find out what was said by trying."""
    text = _said(outcome, said)
    return keyring().sign(text, PURPOSE) if hidden else hashlib.sha256(text).hexdigest()


def _is_same(fingerprint: str, outcome: str, said: Completed | Failed) -> bool:
    if "." in fingerprint:
        return keyring().has_signed(fingerprint, _said(outcome, said), PURPOSE)
    return fingerprint == _fingerprint(outcome, said, hidden=False)


def _said(outcome: str, said: Completed | Failed) -> bytes:
    return f"{outcome}\n{json.dumps(said._asdict(), sort_keys=True)}".encode()


def _hidden(said: Completed | Failed, cipher: Cipher) -> Completed | Failed:
    if isinstance(said, Failed):
        return said._replace(message=cipher.error(said.message))
    return said if said.result is None else Completed(json.loads(cipher.result(json.dumps(said.result))))


def _reported_before(about: Run, answer: dict[str, Any]) -> str:
    return (
        f"Another outcome of this run of task {about.task} was reported before: {answer['outcome']}. That one counts, "
        "and nothing was changed."
    )


def _not_away(about: Run) -> NotAway | NotThere:
    """What is true instead."""
    task = task_by_id(about.task)
    if task is None or task.tenant != about.tenant or task.token != about.token:
        return NotThere(f"There is no task {about.task} with this token.")
    return NotAway(f"{_truth(task, about)} Nothing was changed.", task)


def _truth(task: TaskFields, about: Run) -> str:
    match task.status:
        case Status.CANCELLED:
            by = f" by {task.cancelled_by}" if task.cancelled_by else ""
            return f"Task {task.id} was cancelled{by}: {first_line(task.error_msg).rstrip('.') or task.error_code}."
        case Status.SUCCESS if task.due_at is None:
            return f"Task {task.id} has succeeded already."
        case _ if task.ran_in == about.run and task.error_code:
            return f"This run of task {task.id} is over, with {task.error_code}; the task is {task.status} now."
        case Status.AWAY:
            return f"Task {task.id} is away in a later run, which has addresses of its own."
    return f"This run of task {task.id} is over; the task is {task.status} now."

"""The walk that brings what is stored under the newest keys of its tenants: in steps, stopped and resumed at will.

It goes over jobs, secrets, live tasks and those that are over, with their failed tries, dead letters and logs. A task
that runs, or that somebody has locked, is left for another round: what it leaves behind is written by what it was
given. It ends with a round that has left nothing. What is in the archive stays as it was written.
"""

import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from django.db.models import Max, Q

from tasks_app.core.confidential import (
    DataKey,
    Encrypted,
    KeyOutOfReach,
    Unreadable,
    as_text,
    of_job,
    of_payload,
    of_secret,
    of_task,
)
from tasks_app.core.errors import NothingToDo, NotThere
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.keyring import CannotUnseal
from tasks_app.core.states import UNDER_WAY
from tasks_app.database import atomic
from tasks_app.models import (
    DlqEntry,
    JobDefinition,
    KeyWalk,
    PastTask,
    ScheduleTask,
    Secret,
    TaskAttempt,
    TaskLog,
    Tenant,
    TenantKey,
)
from tasks_app.models.base import OurModel
from tasks_app.models.schedule_task import TaskFields
from tasks_app.sql import run
from tasks_app.sql.binary import bytes_array

from .audit import Entry, Operator, audit
from .confidential import hidden_payloads
from .data_keys import newest_keys, opened_keys
from .named_secrets import unsealed

log = logging.getLogger(__name__)

STEP = 500  # rows that one step looks at
PAUSE = timedelta(seconds=60)  # before another round, in which what was in use may be free
PLACES = ("jobs", "secrets", "live tasks", "tasks that are over")
SUBJECT = "encryption of stored data"


class Step(NamedTuple):
    """What one step has done."""

    last: int | None  # the last row that it looked at; None: there are no more
    changed: int = 0
    left: int = 0
    unreadable: int = 0


def order_walk(operator: Operator) -> KeyWalk:
    """Begin it, or begin it anew: whoever rotates a key or asks for encryption does."""
    with atomic(savepoint=False):
        fresh = {"state": KeyWalk.RUNNING, "place": 0, "after": 0, "until": 0, "rounds": 0, "changed": 0, "left": 0}
        fresh |= {"unreadable": 0, "ordered_by": operator.name, "ordered_at": _now(), "updated_at": _now()}
        row: KeyWalk
        row, _ = KeyWalk.objects.update_or_create(id=KeyWalk.ONLY, defaults=fresh)
    return row


def begin_walk(operator: Operator) -> KeyWalk:
    """order_walk, by a person who wants nothing else."""
    with atomic(savepoint=False):
        row = order_walk(operator)
        audit(operator, "reencrypt", [Entry(SUBJECT, "begun")])
    return row


def stop_walk(operator: Operator) -> KeyWalk:
    """Between two steps; `resume_walk` goes on where it was."""
    return _switch(operator, KeyWalk.RUNNING, KeyWalk.STOPPED, "stop", "stopped")


def resume_walk(operator: Operator) -> KeyWalk:
    return _switch(operator, KeyWalk.STOPPED, KeyWalk.RUNNING, "resume", "resumed")


def step_walk(size: int = STEP) -> bool:
    """One step, one transaction. False: there is nothing to do now, or another beat is at it."""
    with atomic():
        row = KeyWalk.objects.select_for_update(skip_locked=True).filter(state=KeyWalk.RUNNING).first()
        if row is None:
            return False
        begins = row.place == 0 and row.after == 0
        if begins and row.rounds and _now() - row.updated_at < PAUSE:
            return False
        step = _STEPS[row.place](row.after, size, _concerned())
        row.changed, row.left = row.changed + step.changed, row.left + step.left
        row.unreadable += step.unreadable
        row.after = row.after if step.last is None else step.last
        if step.last is None:
            _next_place(row)
        row.updated_at = _now()
        row.save()
    return row.state == KeyWalk.RUNNING and not (row.place == 0 and row.after == 0)


def _next_place(row: KeyWalk) -> None:
    row.place, row.after = row.place + 1, 0
    if row.place < len(PLACES):
        row.until = _LAST[row.place]()
        return
    row.place = 0
    if row.left:
        row.rounds, row.left, row.unreadable = row.rounds + 1, 0, 0
        return
    row.state = KeyWalk.DONE
    log.info("keys.walked changed=%d unreadable=%d", row.changed, row.unreadable)


def _switch(operator: Operator, old: str, new: str, verb: str, outcome: str) -> KeyWalk:
    with atomic(savepoint=False):
        row: KeyWalk | None = KeyWalk.objects.select_for_update().first()
        if row is None:
            raise NotThere("nothing is being encrypted anew; `manage.py keys reencrypt` begins it.")
        if row.state != old:
            raise NothingToDo(f"it is {row.state.lower()} already; nothing was changed.")
        row.state, row.updated_at = new, _now()
        row.save()
        audit(operator, verb, [Entry(SUBJECT, outcome)])
    return row


def _now() -> datetime:
    now: datetime = run("clock", {})[0][0]
    return now


# ---- what a step does ----


class _Concerned(NamedTuple):
    """Whose data may have to be written anew."""

    asking: frozenset[str]  # tenants that ask for all of theirs to be encrypted
    tenants: frozenset[str]  # and those that have keys
    types: frozenset[str]

    @property
    def rows(self) -> Q:
        return Q(tenant__in=self.tenants) | Q(task_type__in=self.types)

    def wants(self, tenant: str, task_type: str) -> bool:
        return tenant in self.asking or task_type in self.types


def _concerned() -> _Concerned:
    asking = frozenset(Tenant.objects.filter(encrypted=True).values_list("name", flat=True))
    with_keys = TenantKey.objects.filter(encrypts=True).values_list("tenant", flat=True)
    return _Concerned(asking, asking | frozenset(with_keys), REGISTRY.encrypted)


Value = TypeVar("Value")


class _Rewriter:
    """Brings values under the newest key of one tenant."""

    def __init__(self, newest: DataKey, keys: Mapping[int, DataKey | Unreadable | KeyOutOfReach]) -> None:
        self._newest = newest
        self._keys = keys
        self.changed = False

    def hidden(self, value: Value, plain: Callable[[], str] | None, bound_to: bytes) -> Value | Encrypted:
        """The value as it should be stored: an Encrypted, or itself. `plain` is None if what is in the clear stays so.

        Raises Unreadable and KeyOutOfReach.
        """
        if (text := self._to_encrypt(value, plain, bound_to)) is None:
            return value
        [found] = self._newest.encrypt([text], [bound_to])
        return found

    def payload(self, row: TaskFields, plain: Callable[[], str] | None) -> tuple[str, bytes | None]:
        """The same of a task's payload: its JSON text, and what is stored in bytes beside it."""
        bound_to = of_payload(row.tenant, row.task_type, row.biz_key, row.job)
        if (text := self._to_encrypt(row.payload, plain, bound_to, row.payload_bytes)) is None:
            return _json(row.payload), row.payload_bytes
        [found] = hidden_payloads(self._newest, [text], [bound_to])
        return found

    def _to_encrypt(
        self, value: object, plain: Callable[[], str] | None, bound_to: bytes, in_bytes: bytes | None = None
    ) -> str | None:
        """What is to be written anew, in the clear; None: nothing."""
        if isinstance(value, Encrypted):
            if value.key == self._newest.number:
                return None
            key = self._keys[value.key]
            if not isinstance(key, DataKey):
                raise key
            text = key.decrypt(value.envelope, bound_to, in_bytes)
        elif plain is None:
            return None
        else:
            text = plain()
        self.changed = True
        return text


def _rewriters(tenants: Collection[str], values: Sequence[object]) -> dict[str, _Rewriter]:
    """Of a tenant whose keys were destroyed there is none: what it has stays as it is."""
    keys = opened_keys({value.key for value in values if isinstance(value, Encrypted)})
    living = set(TenantKey.objects.filter(tenant__in=tenants, encrypts=True).values_list("tenant", flat=True))
    destroyed = set(TenantKey.objects.filter(tenant__in=tenants).values_list("tenant", flat=True)) - living
    newest = newest_keys(set(tenants) - destroyed)
    return {tenant: _Rewriter(one.key, keys) for tenant, one in newest.items() if one is not None}


def _jobs(after: int, size: int, concerned: _Concerned) -> Step:
    ids = list(JobDefinition.objects.filter(id__gt=after).order_by("id").values_list("id", flat=True)[:size])
    if not ids:
        return Step(None)
    found = JobDefinition.objects.filter(concerned.rows, id__in=ids)
    rows = list(found.order_by("id").select_for_update(skip_locked=True, no_key=True))
    rewriters = _rewriters({row.tenant for row in rows}, [row.payload for row in rows])
    changed = unreadable = 0
    for row in rows:
        if (rewriter := rewriters.get(row.tenant)) is None:
            continue
        wanted = concerned.wants(row.tenant, row.task_type)
        plain = (lambda row=row: _json(row.payload)) if wanted else None
        try:
            hidden = rewriter.hidden(row.payload, plain, of_job(row.tenant, row.id))
        except Unreadable:
            unreadable += 1
            continue
        if hidden is not row.payload:
            changed += JobDefinition.objects.filter(id=row.id).update(payload=hidden)
    return Step(ids[-1], changed, max(0, found.count() - len(rows)), unreadable)


def _secrets(after: int, size: int, concerned: _Concerned) -> Step:
    rows = list(
        Secret.objects.filter(id__gt=after, tenant__in=concerned.tenants)
        .order_by("id")
        .select_for_update(no_key=True)[:size]
    )
    if not rows:
        return Step(None)
    values = {row.id: [as_text(text) for text in row.values] for row in rows}
    rewriters = _rewriters({row.tenant for row in rows}, [one for found in values.values() for one in found])
    changed = unreadable = 0
    for row in rows:
        if (rewriter := rewriters.get(row.tenant)) is None:
            continue
        try:
            fresh = [_secret(rewriter, row, one, wanted=row.tenant in concerned.asking) for one in values[row.id]]
        except (Unreadable, CannotUnseal):
            unreadable += 1
            continue
        if fresh != row.values:
            changed += Secret.objects.filter(id=row.id).update(values=fresh)
    return Step(rows[-1].id, changed, 0, unreadable)


def _secret(rewriter: _Rewriter, row: Secret, value: str, *, wanted: bool) -> str:
    plain = (lambda: unsealed(row, value)) if wanted else None
    hidden = rewriter.hidden(value, plain, of_secret(row.tenant, row.id))
    return hidden.as_text if isinstance(hidden, Encrypted) else hidden


def _live(after: int, size: int, concerned: _Concerned) -> Step:
    ids = list(ScheduleTask.objects.filter(id__gt=after).order_by("id").values_list("id", flat=True)[:size])
    if not ids:
        return Step(None)
    found = ScheduleTask.objects.filter(concerned.rows, id__gte=ids[0], id__lte=ids[-1])
    idle = found.exclude(status__in=UNDER_WAY).order_by("id")
    rows = list(idle.select_for_update(skip_locked=True, no_key=True))
    return _tasks("rewrite_live", rows, concerned)._replace(last=ids[-1], left=max(0, found.count() - len(rows)))


def _past(after: int, size: int, concerned: _Concerned) -> Step:
    ids = list(PastTask.objects.filter(id__gt=after).order_by("id").values_list("id", flat=True)[:size])
    if not ids:
        return Step(None)
    found = PastTask.objects.filter(concerned.rows, id__gte=ids[0], id__lte=ids[-1])
    rows = list(found.order_by("id").select_for_update(skip_locked=True, no_key=True))
    return _tasks("rewrite_past", rows, concerned)._replace(last=ids[-1], left=max(0, found.count() - len(rows)))


def _tasks(statement: str, rows: Sequence[TaskFields], concerned: _Concerned) -> Step:
    """These rows, and what lies beside them."""
    ids = {row.id: row for row in rows}
    attempts = list(TaskAttempt.objects.filter(task_id__in=ids))
    letters = list(DlqEntry.objects.filter(task_id__in=ids))
    logs = list(TaskLog.objects.filter(task_id__in=ids))
    values: list[object] = [one for row in rows for one in (row.payload, row.result, row.error_msg)]
    values += [one.error_msg for one in attempts]
    values += [one for letter in letters for one in (letter.error_msg, letter.traceback)]
    values += [as_text(text) for one in logs for _, _, text in one.lines]
    rewriters = _rewriters({row.tenant for row in rows}, values)
    fresh: dict[int, tuple[str, bytes | None, str | None, str]] = {}
    unreadable: set[int] = set()
    for row in rows:
        rewriter = rewriters.get(row.tenant)
        if rewriter is None:
            continue
        rewriter.changed = False
        try:
            columns = _columns(rewriter, row, wanted=_wanted(row, concerned))
        except Unreadable:
            unreadable.add(row.id)
            continue
        if rewriter.changed:
            fresh[row.id] = columns
    changed = 0
    if fresh:
        payloads, in_bytes, results, errors = map(list, zip(*fresh.values(), strict=True))
        given = {"ids": list(fresh), "payloads": payloads, "payload_bytes": bytes_array(in_bytes), "results": results}
        given |= {"errors": errors}
        changed = len(run(statement, given))
    for one in (*attempts, *letters, *logs):
        row = ids[one.task_id]
        rewriter = rewriters.get(row.tenant)
        if rewriter is None:
            continue
        try:
            changed += _beside(rewriter, row, one, wanted=_wanted(row, concerned))
        except Unreadable:
            unreadable.add(row.id)
    return Step(None, changed, 0, len(unreadable))


def _wanted(row: TaskFields, concerned: _Concerned) -> bool:
    """What lies beside an encrypted payload is encrypted, too."""
    return concerned.wants(row.tenant, row.task_type) or isinstance(row.payload, Encrypted)


def _columns(rewriter: _Rewriter, row: TaskFields, *, wanted: bool) -> tuple[str, bytes | None, str | None, str]:
    payload, in_bytes = rewriter.payload(row, (lambda: _json(row.payload)) if wanted else None)
    result = None
    if row.result is not None:
        plain = (lambda: _json(row.result)) if wanted else None
        result = _json(rewriter.hidden(row.result, plain, of_task(row.tenant, row.id, "result")))
    return payload, in_bytes, result, _text(rewriter, row, row.error_msg, "error", wanted=wanted)


def _json(value: object) -> str:
    return value.json_text if isinstance(value, Encrypted) else json.dumps(value, ensure_ascii=False)


def _text(rewriter: _Rewriter, row: TaskFields, text: str, what: str, *, wanted: bool) -> str:
    plain = (lambda: text) if wanted and text else None
    found = rewriter.hidden(text, plain, of_task(row.tenant, row.id, what))
    return found.as_text if isinstance(found, Encrypted) else found


def _beside(rewriter: _Rewriter, row: TaskFields, one: TaskAttempt | DlqEntry | TaskLog, *, wanted: bool) -> int:
    rewriter.changed = False
    if isinstance(one, TaskLog):
        lines = [[at, how, _text(rewriter, row, as_text(text), "log", wanted=wanted)] for at, how, text in one.lines]
        return _update(TaskLog, one, lines=lines) if rewriter.changed else 0
    error = _text(rewriter, row, one.error_msg, "error", wanted=wanted)
    if isinstance(one, TaskAttempt):
        return _update(TaskAttempt, one, error_msg=error) if rewriter.changed else 0
    trace = _text(rewriter, row, one.traceback, "trace", wanted=wanted)
    return _update(DlqEntry, one, error_msg=error, traceback=trace) if rewriter.changed else 0


def _update(model: type[OurModel], one: TaskAttempt | DlqEntry | TaskLog, **values: object) -> int:
    changed: int = model.objects.filter(id=one.id, task_id=one.task_id).update(**values)
    return changed


def _last_of(model: type[OurModel]) -> Callable[[], int]:
    return lambda: model.objects.aggregate(last=Max("id"))["last"] or 0


_STEPS = (_jobs, _secrets, _live, _past)
_LAST = (_last_of(JobDefinition), _last_of(Secret), _last_of(ScheduleTask), _last_of(PastTask))

"""settle: the outcomes of a batch are written, set-based, by the worker that still holds it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import UUID

from tasks_app.conf import conf
from tasks_app.core.confidential import own_words
from tasks_app.core.deferral import DEFERRING
from tasks_app.core.errors import MOST_TAGS
from tasks_app.core.handlers import Handler
from tasks_app.core.task import SUCCEEDED, Failure, GoneAway, NotYet, Outcome, Returned, Skipped, Succeeded, Task
from tasks_app.core.timer import Timer
from tasks_app.database import atomic
from tasks_app.sql import array, run
from tasks_app.sql.binary import BigintArray, bigint_array

from . import retry_budget
from .away import settle_early
from .confidential import Cipher
from .deferral import HandedOn, hand_on, lock_to_defer

ERROR_CODE_LENGTH = 50
ERROR_MSG_LENGTH = 4_000
FRAME_LENGTH = 200
HELD_BY_LENGTH = 120
NOT_BOTH = (
    "the handler has deferred effects and handed its task over; effects are written with the success of their task, "
    "which is yet to come. Hand those effects over too, or schedule() them."
)
_BY_ID = attrgetter("task.id")


class BatchLost(Exception):
    """The batch was reaped or finished by somebody else: nothing of it may be written any more."""


Kind = TypeVar("Kind", covariant=True)


class Settled(NamedTuple):
    """One task with its outcome; times are microseconds since the batch's start."""

    task: Task
    outcome: Outcome
    begun_us: int = 0
    ended_us: int = 0
    held: retry_budget.Held | None = None  # its retry waits for a budget
    cipher: Cipher | None = None  # hides what is written of it


class _Of(Protocol[Kind]):
    """A Settled of a group that `_by_kind` made: its outcome is of one kind."""

    @property
    def task(self) -> Task: ...
    @property
    def outcome(self) -> Kind: ...
    @property
    def begun_us(self) -> int: ...
    @property
    def ended_us(self) -> int: ...
    @property
    def held(self) -> retry_budget.Held | None: ...
    @property
    def cipher(self) -> Cipher | None: ...


_Params = dict[str, object]


@dataclass(frozen=True, slots=True)
class BatchFigures:
    """How long one batch ran, and how late its tasks began."""

    run_us: int = 0
    lateness: Sequence[int] | None = None


def settle(
    batch_no: UUID,
    handler: Handler | None,
    settled: Sequence[Settled],
    *,
    finish: bool,
    figures: BatchFigures = BatchFigures(),  # noqa: B008  (frozen)
    wake: Callable[[Mapping[int, float]], object] | None = None,
) -> int:
    """Write these outcomes, one statement for each kind, and finish the batch if `finish`.

    What tasks that succeeded have deferred is written before that, in the same transaction; `wake` is told when the
    first of it is due in each shard.

    Returns how many rows moved: fewer than given means that the others were cancelled or rescheduled meanwhile.
    Raises BatchLost, having written nothing, if the batch is no longer ours.
    """
    settled = sorted(settled, key=_BY_ID)  # lock order, and the statements search by it
    if settled[0].task.type in DEFERRING:
        settled = [_refuse_both(one) for one in settled]
    if conf().retry_budgets:
        settled = _charged(settled, handler)
    kinds, timer = _by_kind(settled), handler.timer if handler else None
    away = next(([one.task.id for one in group] for kind, group in kinds if kind is GoneAway), [])
    handed = _handed(settled)
    if len(kinds) == 1 and timer is None and not handed and not away:
        ((kind, group),) = kinds
        return _write(batch_no, handler, kind, group, finish=finish, figures=figures)
    with atomic(savepoint=False):
        if handed:
            dues = _hand_on(batch_no, settled, handed)
            if wake is not None and dues:
                wake(dues)
        elif not run("lock_batch", {"batch_no": batch_no, "ids": _ids(settled)}):
            raise BatchLost(str(batch_no))
        last = len(kinds) - 1
        moments = _moments(timer, batch_no, settled) if timer else None
        moved = sum(
            _write(batch_no, handler, kind, group, finish=finish and number == last, figures=figures, moments=moments)
            for number, (kind, group) in enumerate(kinds)
        )
        if away:
            settle_early(batch_no, away)
        return moved


def _charged(settled: Sequence[Settled], handler: Handler | None) -> list[Settled]:
    """What has run is noted in the retry budgets, and retries beyond them are held back."""
    ran = [one.task for one in settled if not isinstance(one.outcome, Returned)]
    again = [one.task for one in settled if _retried(one, handler)]
    held = dict(zip((task.id for task in again), retry_budget.charge(ran, again), strict=True))
    return [one._replace(held=held.get(one.task.id)) for one in settled]


def _retried(one: Settled, handler: Handler | None) -> bool:
    """What is final takes nothing out of a budget, as far as that is known here: a row may have a budget of its own."""
    if not isinstance(one.outcome, Failure) or one.outcome.final:
        return False
    return handler is None or one.task.attempt <= handler.max_retry


def _refuse_both(one: Settled) -> Settled:
    """What a task has deferred is written with its success, and one that is away has not succeeded."""
    if not isinstance(one.outcome, GoneAway) or not one.task.deferred:
        return one
    return one._replace(outcome=Failure("DEFERRED_AND_AWAY", NOT_BOTH, final=True))


def _handed(settled: Sequence[Settled]) -> list[HandedOn]:
    """What tasks have deferred that succeeded. Most types never defer anything, and their batches pay for one look."""
    if settled[0].task.type not in DEFERRING:
        return []
    return [
        HandedOn(one.task, effect)
        for one in settled
        if one.outcome is SUCCEEDED or isinstance(one.outcome, Succeeded)
        for effect in one.task.deferred
    ]


def _hand_on(batch_no: UUID, settled: Sequence[Settled], handed: Sequence[HandedOn]) -> dict[int, float]:
    """Only what the tasks have deferred that are still ours: the others' outcome is not written either."""
    ours = lock_to_defer(batch_no, _ids(settled), handed)
    if ours is None:
        raise BatchLost(str(batch_no))
    return hand_on(batch_no, [one for one in handed if one.task.id in ours])


def _moments(timer: Timer, batch_no: UUID, settled: Sequence[Settled]) -> list[datetime] | None:
    """What the rolls of this batch may wait for: a few for each interval, however many tasks it has.

    The caller has locked the rows: the interval of one that runs may be changed, and must not be after this.
    """
    ends = [one.ended_us for one in settled]
    first, last = timedelta(microseconds=min(ends)), timedelta(microseconds=max(ends))
    rolls = [began + every for began, every in run("roll_intervals", {"batch_no": batch_no, "ids": _ids(settled)})]
    return sorted({moment for roll in rolls for moment in timer.until(roll + first, roll + last)}) or None


def _by_kind(settled: Sequence[Settled]) -> Sequence[tuple[type, Sequence[Settled]]]:
    if len(alike := {type(one.outcome) for one in settled}) == 1:
        return [(alike.pop(), settled)]
    kinds: dict[type, list[Settled]] = {}
    for one in settled:
        kinds.setdefault(type(one.outcome), []).append(one)
    if Succeeded in kinds and type(SUCCEEDED) in kinds:  # one statement for both
        del kinds[type(SUCCEEDED)]
        kinds[Succeeded] = [one for one in settled if isinstance(one.outcome, Succeeded | None)]
    return list(kinds.items())


def _write(
    batch_no: UUID,
    handler: Handler | None,
    kind: type,
    group: Sequence[Settled],
    *,
    finish: bool,
    figures: BatchFigures,
    moments: list[datetime] | None = None,
) -> int:
    statement, counts_as, given = _STATEMENTS[kind]
    params = given(group, handler) | {
        "batch_no": batch_no,
        "ids": _ids(group),
        "finish": finish,
        "counts_as": counts_as,
        "run_us": figures.run_us,
        "lateness": None if figures.lateness is None else array(figures.lateness),
        "moments": moments,
        "kept": conf().kept_kinds,
    }
    moved = 0
    now: int
    while True:
        rows = run(statement, params)
        if not rows:
            raise BatchLost(str(batch_no))
        ((now, locked),) = rows
        moved += now
        if now == locked:
            return moved
        # The others were changed between its look and its lock, and are ours all the same: the next look sees them.


def _ids(settled: Sequence[_Of[object]]) -> BigintArray:
    return bigint_array([one.task.id for one in settled])


def _success(group: Sequence[_Of[object]], handler: Handler | None) -> _Params:
    return {
        "begun": bigint_array([one.begun_us for one in group]),
        "ended": bigint_array([one.ended_us for one in group]),
        "attempts": _attempts(group),
        "results": None,
    }


def _attempts(group: Sequence[_Of[object]]) -> str | None:
    """None: all of them succeeded at once, as most do."""
    attempts = [one.task.attempt for one in group]
    return None if attempts.count(1) == len(attempts) else array(attempts)


def _success_with_results(group: Sequence[_Of[Succeeded | None]], handler: Handler | None) -> _Params:
    results = ",".join("null" if one.outcome is SUCCEEDED else _result(one.outcome, one.cipher) for one in group)
    return _success(group, handler) | {"results": f"[{results}]"}


def _result(outcome: Succeeded, cipher: Cipher | None) -> str:
    return outcome.result if cipher is None else cipher.result(outcome.result)


def _failure(group: Sequence[_Of[Failure]], handler: Handler | None) -> _Params:
    return _given(_failed(one, handler) for one in group)


def _failed(one: _Of[Failure], handler: Handler | None) -> dict[str, Any]:
    failure, delay_ms = one.outcome, _delay_ms(one, handler)
    told: dict[str, Any] = {
        "begun": one.begun_us,
        "ended": one.ended_us,
        "attempt": one.task.attempt,
        "delay_ms": delay_ms,
        "final": failure.final,
        "code": clean(failure.code, ERROR_CODE_LENGTH),
        "message": own_words(clean(failure.message, ERROR_MSG_LENGTH)),
        "tags": failure.tags[:MOST_TAGS],
        "frame": clean(failure.frame, FRAME_LENGTH),
        "trace": own_words(clean(failure.trace, ERROR_MSG_LENGTH)),
    }
    if one.cipher is not None:
        told |= {"message": one.cipher.error(told["message"]), "trace": one.cipher.trace(told["trace"])}
    if one.held is not None:
        told |= {"delay_ms": delay_ms + int(one.held.seconds * 1000), "held_by": clean(one.held.by, HELD_BY_LENGTH)}
    return told


def _delay_ms(one: _Of[Failure], handler: Handler | None) -> int:
    if one.outcome.after is not None:
        return int(one.outcome.after * 1000)
    if handler is None:
        return 0
    own = one.task.own
    policy = own.policy if own is not None and own.policy is not None else handler.policy
    return int(policy.delay(one.task.attempt) * 1000)


def _not_yet(group: Sequence[_Of[NotYet]], handler: Handler | None) -> _Params:
    return _given(one.outcome.until.isoformat() for one in group)


def _skipped(group: Sequence[_Of[Skipped]], handler: Handler | None) -> _Params:
    return _given(
        {
            "code": clean(one.outcome.code, ERROR_CODE_LENGTH),
            "reason": _reason(one),
            "begun": one.begun_us if one.begun_us < one.ended_us else None,  # what expired was never begun
        }
        for one in group
    )


def _reason(one: _Of[Skipped]) -> str:
    reason = own_words(clean(one.outcome.reason, ERROR_MSG_LENGTH))
    # What expired was never begun: that reason is ours, and nobody's secret.
    return reason if one.cipher is None or one.begun_us >= one.ended_us else one.cipher.error(reason)


def _away(group: Sequence[_Of[GoneAway]], handler: Handler | None) -> _Params:
    return _given({"begun": one.begun_us, "lease": one.outcome.lease} for one in group)


def _returned(group: Sequence[_Of[Returned]], handler: Handler | None) -> _Params:
    return _given(
        {
            "delay_ms": None if one.outcome.delay is None else int(one.outcome.delay * 1000),
            "solo": one.outcome.solo,
            "code": clean(one.outcome.code, ERROR_CODE_LENGTH),
            "reason": clean(one.outcome.reason, ERROR_MSG_LENGTH),
        }
        for one in group
    )


def _given(values: Iterable[object]) -> _Params:
    """What the statement needs for each id, as one JSON list in the order of the ids."""
    return {"given": json.dumps(list(values))}


_STATEMENTS: dict[type, tuple[str, str, Callable[[Any, Handler | None], _Params]]] = {
    type(SUCCEEDED): ("mark_success", "ok", _success),
    Succeeded: ("mark_success", "ok", _success_with_results),
    Failure: ("mark_fail", "failed", _failure),
    NotYet: ("mark_not_yet", "other", _not_yet),
    Skipped: ("mark_skipped", "other", _skipped),
    Returned: ("return_tasks", "other", _returned),
    GoneAway: ("mark_away", "other", _away),
}


def clean(text: str, longest: int) -> str:
    """Handler text is untrusted: no NUL, no half characters, no control characters, not endless."""
    text = text[:longest].encode("utf-8", "replace").decode()
    if all(line.isprintable() for line in text.replace("\t", "\n").split("\n")):
        return text  # nearly always; letter by letter a stack would take a hundred times as long
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)

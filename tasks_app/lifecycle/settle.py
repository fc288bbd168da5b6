"""settle: the outcomes of a batch are written, set-based, by the worker that still holds it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from tasks_app.core.handlers import Handler
from tasks_app.core.task import SUCCEEDED, Failure, NotYet, Outcome, Returned, Skipped, Task
from tasks_app.sql import array, run

ERROR_CODE_LENGTH = 50
ERROR_MSG_LENGTH = 4_000


class BatchLost(Exception):
    """The batch was reaped or finished by somebody else: nothing of it may be written any more."""


@dataclass(frozen=True, slots=True)
class Settled:
    """One task with its outcome; times are microseconds since the batch's start."""

    task: Task
    outcome: Outcome
    begun_us: int = 0
    ended_us: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    run_us: int = 0
    lateness: Sequence[int] | None = None


def settle(
    batch_no: UUID,
    handler: Handler | None,
    settled: Sequence[Settled],
    *,
    finish: bool,
    figures: Figures = Figures(),  # noqa: B008  (frozen)
) -> int:
    """Write these outcomes, one statement for each kind, and finish the batch if `finish`.

    Returns how many rows moved: fewer than given means that the others were cancelled or re-planned meanwhile.
    Raises BatchLost, having written nothing, if the batch is no longer ours.
    """
    kinds = _by_kind(settled)
    if len(kinds) == 1:
        return _write(batch_no, handler, *kinds[0], finish=finish, figures=figures)
    with transaction.atomic(savepoint=False):
        last = len(kinds) - 1
        return sum(
            _write(batch_no, handler, kind, group, finish=finish and number == last, figures=figures)
            for number, (kind, group) in enumerate(kinds)
        )


def _by_kind(settled: Sequence[Settled]) -> list[tuple[type, list[Settled]]]:
    kinds: dict[type, list[Settled]] = {}
    for one in settled:
        kinds.setdefault(type(one.outcome), []).append(one)
    return list(kinds.items())


def _write(
    batch_no: UUID,
    handler: Handler | None,
    kind: type,
    group: list[Settled],
    *,
    finish: bool,
    figures: Figures,
) -> int:
    statement, own = _STATEMENTS[kind]
    rows = run(
        statement,
        own(group, handler)
        | {
            "batch_no": batch_no,
            "ids": array(one.task.id for one in group),
            "finish": finish,
            "run_us": figures.run_us,
            "lateness": None if figures.lateness is None else array(figures.lateness),
        },
    )
    if not rows:
        raise BatchLost(str(batch_no))
    return rows[0][0]


def _times(group: list[Settled]) -> dict:
    return {"begun": array(one.begun_us for one in group), "ended": array(one.ended_us for one in group)}


def _success(group: list[Settled], handler: Handler | None) -> dict:
    return _times(group)


def _failure(group: list[Settled], handler: Handler | None) -> dict:
    return _times(group) | {
        "attempts": array(one.task.attempt for one in group),
        "delays_ms": array(_delay_ms(one, handler) for one in group),
        "final": [one.outcome.final for one in group],
        "codes": [_clean(one.outcome.code, ERROR_CODE_LENGTH) for one in group],
        "messages": [_clean(one.outcome.message, ERROR_MSG_LENGTH) for one in group],
    }


def _delay_ms(one: Settled, handler: Handler | None) -> int:
    if one.outcome.after is not None:
        return int(one.outcome.after * 1000)
    return int(handler.policy.delay(one.task.attempt) * 1000) if handler else 0


def _not_yet(group: list[Settled], handler: Handler | None) -> dict:
    return {"untils": [one.outcome.until for one in group]}


def _skipped(group: list[Settled], handler: Handler | None) -> dict:
    return {
        "codes": [_clean(one.outcome.code, ERROR_CODE_LENGTH) for one in group],
        "reasons": [_clean(one.outcome.reason, ERROR_MSG_LENGTH) for one in group],
    }


def _returned(group: list[Settled], handler: Handler | None) -> dict:
    return {
        "delays_ms": [None if one.outcome.delay is None else int(one.outcome.delay * 1000) for one in group],
        "solo": [one.outcome.solo for one in group],
        "codes": [one.outcome.code for one in group],
        "reasons": [_clean(one.outcome.reason, ERROR_MSG_LENGTH) for one in group],
    }


_STATEMENTS = {
    type(SUCCEEDED): ("mark_success", _success),
    Failure: ("mark_fail", _failure),
    NotYet: ("mark_not_yet", _not_yet),
    Skipped: ("mark_skipped", _skipped),
    Returned: ("return_tasks", _returned),
}


def _clean(text: str, longest: int) -> str:
    """Handler text is untrusted: no NUL, no half characters, no control characters, not endless."""
    text = text[:longest].encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)

"""repair: rows that break a rule of the doctor are mended, each under its lock and by a statement that looks again.

Called in a transaction. Whoever wants to know what a repair would do takes it back. Each verb returns the ids that it
has mended; the others are as they were.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import DatabaseError

from tasks_app.conf import conf
from tasks_app.core.retention import DEFAULT_CLASS
from tasks_app.core.states import NEVER
from tasks_app.database import atomic
from tasks_app.models import ScheduleTask
from tasks_app.sql import array, run


def mend_current(ids: Sequence[int], by: str) -> list[int]:
    """Units have one current row again: a missing one is chosen first, then what is superseded gives way."""
    chosen = _mended("mend_current", ids)
    given_up = _mended("mend_superseded", ids, by=by, kept=conf().kept_kinds)
    return sorted({*chosen, *given_up})


def mend_running(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_running", ids)


def mend_away(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_away", ids)


def mend_due(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_due", ids)


def mend_timetable(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_timetable", ids)


def mend_over(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_over", ids)


def mend_letters(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_letters", ids, by=by)


def mend_attempts(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_attempts", ids, hot=conf().retention_classes[DEFAULT_CLASS].hot.total_seconds())


def mend_budget(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_budget", ids)


def mend_deferred(ids: Sequence[int], by: str) -> list[int]:
    """One at a time: several may have been deferred by the same task."""
    return _first(row for one in ids for row in run("mend_deferred", {"id": one}))


def mend_blocked(ids: Sequence[int], by: str) -> list[int]:
    """Not due at once, where another instance may have the turn: in line, where the giver of turns finds it."""
    return _mended("mend_blocked", _with_locked_jobs(ids), kept=conf().kept_kinds)


def mend_waits(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_waits", ids)


def mend_turns(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_turns", _with_locked_jobs(ids), never=NEVER)


def mend_replaced(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_replaced", ids)


def mend_place(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_place", ids)


def mend_sieve(ids: Sequence[int], by: str) -> list[int]:
    return _mended("mend_sieve", ids)


def mend_past(ids: Sequence[int], by: str) -> list[int]:
    """One at a time: one whose place is taken, or that breaks a constraint, stays where it is."""
    return [one for one in ids if _came_back(one)]


def _mended(statement: str, ids: Sequence[int], **params: object) -> list[int]:
    if not ids:
        return []
    given = {"ids": array(ids)}
    run("lock_broken", given)
    return _first(run(statement, given | params))


def _with_locked_jobs(ids: Sequence[int]) -> list[int]:
    """Jobs before tasks, as whoever gives turns locks them; a job that somebody has locked is left alone."""
    jobs = dict(ScheduleTask.objects.filter(id__in=list(ids)).values_list("id", "job"))
    locked = set(_first(run("lock_turns", {"jobs": sorted({one for one in jobs.values() if one is not None})})))
    return [one for one, job in jobs.items() if job in locked]


def _came_back(task: int) -> bool:
    try:
        with atomic():
            ((gone, back),) = run("mend_past", {"id": task})
            if gone != back:
                raise _PlaceTaken
    except (_PlaceTaken, DatabaseError):
        return False
    return bool(back)


class _PlaceTaken(Exception):
    """Another row of its unit, or with its idem_key, is live."""


def _first(rows: Iterable[tuple[Any, ...]]) -> list[int]:
    return sorted({row[0] for row in rows})

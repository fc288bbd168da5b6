"""Turns: whose of a job's instances may run, where they must not run over each other.

An instance of a job whose `overlap` is not `allow` is BLOCKED until its turn is decided here: when its time comes, and
again when the older one is over. Nobody has to tell that it is: who is under way is read from the tasks themselves, so
no way to end a task can be forgotten. The job is locked while its turns are given, and so are the tasks that move.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.states import NEVER
from tasks_app.database import atomic
from tasks_app.sql import array, run

JOBS = 500  # that one transaction decides for, at most
LOOK = 8 * JOBS  # jobs that one look finds, about
IN_LINE = 100  # instances of a job that one decision looks at
PATIENCE = 4  # times that what a backfill has first in line is passed over by those that wait, before it goes

Dues = dict[int, float]  # shard -> the earliest moment at which something is due in it, epoch seconds


class Given(NamedTuple):
    """What one decision did."""

    released: int = 0
    cancelled: int = 0
    queued: int = 0
    put_off: frozenset[int] = frozenset()  # jobs that somebody else has locked, or a task of theirs: look again
    dues: Mapping[int, float] = MappingProxyType({})


class ToDecide(NamedTuple):
    jobs: list[int]
    seconds: float | None  # until the next moment comes; None: nobody waits for one


def to_decide(shards: Iterable[int], but: Iterable[int] = ()) -> ToDecide:
    """Jobs of these shards, except `but`, that have a turn to give now, the earliest first; about LOOK at most."""
    shards = list(shards)
    params = {"shards": array(shards), "but": array(but), "each": -(-LOOK // max(1, len(shards))), "most": JOBS}
    return ToDecide(*run("next_turns", params | {"patience": PATIENCE, "never": NEVER})[0])


def in_steps(jobs: Sequence[int]) -> list[Sequence[int]]:
    """As many as one transaction decides for, each."""
    return [jobs[first : first + JOBS] for first in range(0, len(jobs), JOBS)]


def give_turns(jobs: Iterable[int]) -> Given:
    """Decide for these jobs who runs, waits or is cancelled. A job that is locked by others is put off."""
    asked = frozenset(jobs)
    with atomic(savepoint=False):
        locked = [job for (job,) in run("lock_turns", {"jobs": array(asked)})]
        if not locked:
            return Given(put_off=asked)
        params = {"jobs": array(locked), "most": IN_LINE, "patience": PATIENCE, "never": NEVER}
        params["kept"] = conf().kept_kinds
        [(released, cancelled, queued, put_off, dues)] = run("decide_turns", params)
    due = {int(shard): moment for shard, moment in (dues or {}).items()}
    return Given(released, cancelled, queued, asked.difference(locked).union(put_off), due)


def end_turns(settled: Sequence[tuple[int, int]]) -> list[int]:
    """Of these tasks, each with its job, what is over has no turn any more. Returns the jobs in which others wait."""
    ids, jobs = zip(*settled, strict=True)
    return [job for (job,) in run("end_turns", {"ids": array(ids), "jobs": array(sorted(set(jobs)))})]


def hold_turns(job_id: int) -> None:
    """What is under way of a job that did not care about overlap until now has its turn. The caller has locked it."""
    run("hold_turns", {"job": job_id, "never": NEVER})


def enter_turns(job_id: int) -> None:
    """The job cares about overlap from now on: the same, and what backfills have made, and nobody runs, is in line."""
    run("line_up", {"job": job_id, "never": NEVER})
    hold_turns(job_id)


def leave_turns(job_id: int) -> Dues:
    """The job does not care about overlap any more: what waited is due. The caller has locked it."""
    dues: Dues = {}
    for shard, due in run("leave_turns", {"job": job_id}):
        dues[shard] = min(due, dues.get(shard, due))
    return dues


def cancel_waiting(job_id: int, by: str) -> list[int]:
    """The job is being deleted: what waits for its turn is cancelled. The caller has locked it."""
    return [task_id for (task_id,) in run("cancel_waiting", {"job": job_id, "by": by, "kept": conf().kept_kinds})]


def queue_again(due: Sequence[tuple[int, int | None]]) -> None:
    """Tasks, each with its job, that this transaction has made due: those of jobs that care wait for their turn."""
    of_jobs = [(task_id, job) for task_id, job in due if job is not None]
    if of_jobs:
        ids, jobs = zip(*of_jobs, strict=True)
        run("queue_again", {"ids": array(ids), "jobs": array(set(jobs))})


def queue_behind(ids: Sequence[int]) -> None:
    """These, which this transaction has put in line, were asked for by a backfill: all others go before them."""
    if ids:
        run("queue_behind", {"ids": array(ids)})


def hand_on_turns(pairs: Sequence[tuple[int, int]]) -> None:
    """From a row that ran to the one that took over from it."""
    olds, news = zip(*pairs, strict=True)
    run("hand_on_turns", {"olds": array(olds), "news": array(news)})


def move_turns(ids: Sequence[int]) -> None:
    """Tasks that are BLOCKED and got another time."""
    run("move_turns", {"ids": array(ids)})

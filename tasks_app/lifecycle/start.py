"""start and heartbeat: a worker's right to a batch."""

import logging
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple
from uuid import UUID

from tasks_app.conf import conf
from tasks_app.core.clock import DatabaseClock, lease_clock
from tasks_app.core.confidential import STORED_JSON
from tasks_app.core.contact import Contact
from tasks_app.core.memory import collector_paused
from tasks_app.core.retry import policy_from
from tasks_app.core.task import Failure, Own, Returned, Task
from tasks_app.database import atomic
from tasks_app.sql import Row, array, run

from .claim import return_batches
from .confidential import NOTHING_HIDDEN, Cipher, open_tasks
from .held import hold_beyond, hold_started
from .parents import hand_out_parents
from .rehearsal import rehearse_batch
from .scopes import held_back

log = logging.getLogger(__name__)

_NONE: frozenset[int] = frozenset()
CLOCK = DatabaseClock()  # of this process: what earlier batches have learned of it, too
# Places in a row of start.sql.
_CLAIMED_DUE, _ID, _PAYLOAD, _IN_BYTES, _BOUNDED, _STOPPED = 0, 1, 9, 10, 13, 14


@dataclass(frozen=True, slots=True)
class StartedBatch:
    batch_no: UUID
    task_type: str
    tasks: list[Task]
    started: float  # epoch seconds, database clock
    clock: DatabaseClock
    contact: Contact  # between its handlers and whoever keeps its lease
    turns: frozenset[int] = frozenset()  # jobs of it that care about overlap: others may wait for these tasks
    waited_for: frozenset[int] = frozenset()  # tasks that others may wait for
    ciphers: Mapping[int, Cipher] = field(default_factory=lambda: NOTHING_HIDDEN)  # of its encrypted tasks
    ended: Sequence[
        tuple[Task, Failure | Returned]
    ] = ()  # tasks that don't run: a safeguard holds them, or they can't be opened
    early: frozenset[int] = frozenset()  # tasks that were claimed ahead of their time, and not due at the start
    worker: str = ""  # who has started it
    lease_until: float = inf  # by lease_clock, read before the start was sent
    watched: bool = False  # something of its type has failed lately


def start(batch_no: UUID, worker: str, ticket: UUID | None = None, *, again: bool = False) -> StartedBatch | None:
    """Take the batch and load what is still ours of it; None if it was taken, finished or is unknown.

    If its lane was paused meanwhile, or nothing may run, it goes back to due untouched, which is None too. `again`: the
    answer to a start with this ticket was lost, and no handler has been called since.
    """
    asked, lease_until = time.monotonic(), lease_clock() + conf().RUN_LEASE_SECONDS
    params = {"batch_no": batch_no, "worker": worker, "ticket": ticket, "again": again, "site": conf().site}
    params |= {"lease": conf().RUN_LEASE_SECONDS, "late": conf().LATE_SECONDS, "kept": conf().kept_kinds}
    with collector_paused():
        rows = _run_again(params) if again else run("start", params)
        return _started(batch_no, worker, asked, lease_until, rows)


def _started(batch_no: UUID, worker: str, asked: float, lease_until: float, rows: list[Row]) -> StartedBatch | None:
    if not rows:
        # Taken by another delivery, most likely, and then this moves nothing. One that nobody has started is here
        # because its lane is paused, or was a moment ago, or since nothing may run, or only elsewhere: its message is
        # used up, so it has to go back, or aside.
        if rehearsed := rehearse_batch(batch_no):
            log.info("batch.rehearsed batch=%s tasks=%d", batch_no, rehearsed)
        elif return_batches([str(batch_no)]):
            log.info("batch.returned batch=%s reason=%r", batch_no, "its lane is paused, or nothing may run here")
        return None
    clock = CLOCK
    (began, _, task_type, lane, _, started, *_, watched, _), *found = rows
    clock.learn(started, asked, time.monotonic())
    contact = Contact(clock)
    found.sort()
    tasks = [
        Task(
            id_,
            tenant,
            key,
            attempt + 1,
            claimed if at is None else at,
            claimed if due is None else due,
            deadline,
            token,
            payload,
            job,
            task_type,
            lane,
            contact,
            fire,
        )
        # No `*_` here: it makes a list for each task.
        for claimed, id_, tenant, key, attempt, at, due, deadline, token, payload, _, job, fire, _, _ in found
    ]
    if found and found[0][_STOPPED] is not None and (stopped := {row[_ID] for row in found if row[_STOPPED]}):
        tasks = _without_held(batch_no, tasks, stopped)
    held: Sequence[tuple[Task, Failure | Returned]] = []
    if found and found[0][_BOUNDED] is not None and (bounded := {row[_ID] for row in found if row[_BOUNDED]}):
        tasks = _within_quotas(batch_no, tasks, bounded)
        tasks, held = _within_safeguards(batch_no, tasks, bounded)
    if not tasks and not held:
        # Everything in it was cancelled, rescheduled or put aside. Finished now, or it would wait for the reaper.
        finish_batch(batch_no)
    jobs = {task.job for task in tasks} - {None}
    turns, waited_for = _hand_out_own(tasks, jobs) if jobs else (_NONE, _NONE)
    ciphers = NOTHING_HIDDEN
    ended: Sequence[tuple[Task, Failure | Returned]] = ()
    if jobs or [None for row in found if row[_PAYLOAD].startswith(STORED_JSON)]:
        in_bytes = {row[_ID]: row[_IN_BYTES] for row in found if row[_IN_BYTES] is not None}
        tasks, ciphers, ended = open_tasks(tasks, in_bytes)
        contact.ciphers = ciphers
    # As exact as in the database: a float tells the microseconds of our centuries apart.
    early = frozenset([row[_ID] for row in found if row[_CLAIMED_DUE] > began])
    return StartedBatch(
        batch_no,
        task_type,
        tasks,
        started,
        clock,
        contact,
        turns,
        waited_for,
        ciphers,
        [*held, *ended],
        early,
        worker,
        lease_until,
        watched,
    )


def _run_again(params: dict[str, object]) -> list[Row]:
    """The first question may still be on its way: what it does is seen only by what begins after it."""
    with atomic():
        run("await_start", {"batch_no": params["batch_no"]})
        return run("start", params)


def _without_held(batch_no: UUID, tasks: list[Task], stopped: Collection[int]) -> list[Task]:
    """Those that may run. One whose tenant was resumed a moment ago may."""
    tenants = {task.tenant for task in tasks if task.id in stopped}
    held = hold_started(batch_no, sorted(stopped), sorted(tenants))
    if held:
        log.info("task.held batch=%s type=%s tasks=%d", batch_no, tasks[0].type, len(held))
    return [task for task in tasks if task.id not in held]


def _within_quotas(batch_no: UUID, tasks: list[Task], bounded: Collection[int]) -> list[Task]:
    """Those that may run beside what runs of their tenants already."""
    held = hold_beyond(batch_no, [(task.id, task.tenant) for task in tasks if task.id in bounded])
    if held:
        log.info("task.held batch=%s type=%s tasks=%d reason=max_running", batch_no, tasks[0].type, len(held))
    return [task for task in tasks if task.id not in held]


def _within_safeguards(
    batch_no: UUID, tasks: list[Task], bounded: Collection[int]
) -> tuple[list[Task], Sequence[tuple[Task, Failure | Returned]]]:
    """Those that may run, and those that a safeguard of their tenant sends back."""
    asked = [task for task in tasks if task.id in bounded]
    held = held_back(batch_no, {asked[0].type: asked}, all_types=True) if asked else []
    if not held:
        return tasks, []
    log.info("task.held_back batch=%s type=%s tasks=%d", batch_no, tasks[0].type, len(held))
    gone = {task.id for task, _ in held}
    return [task for task in tasks if task.id not in gone], held


def _hand_out_own(tasks: list[Task], jobs: Collection[int | None]) -> tuple[frozenset[int], frozenset[int]]:
    """Time-outs and delays that jobs have of their own, as they are now, and the results of parents. Returns the jobs
    that care about overlap, and the tasks that others may wait for."""
    rows = {job: row for job, *row in run("job_options", {"jobs": array(jobs)})}
    if not rows:
        return _NONE, _NONE
    own = {job: Own(timeout, policy_from(backoff) if backoff else None) for job, (timeout, backoff, *_) in rows.items()}
    waiting, waited_for = [], []
    for task in tasks:
        if task.job not in rows:
            continue
        task.own = own[task.job]
        _, _, _, has_parents, has_children, relinked = rows[task.job]
        if has_parents or relinked:
            waiting.append(task)
        if has_children:
            waited_for.append(task.id)
    if waiting:
        hand_out_parents(waiting, {job for job, row in rows.items() if row[-1]})
    return frozenset(job for job, (_, _, turns, *_) in rows.items() if turns), frozenset(waited_for)


def heartbeat(batch_no: UUID, ids: Sequence[int]) -> set[int] | None:
    """Extend the lease. Returns the ids that are no longer ours; None if the whole batch isn't."""
    rows = run("heartbeat", {"batch_no": batch_no, "ids": array(ids), "lease": conf().RUN_LEASE_SECONDS})
    return set(rows[0][0]) if rows else None


def still_ours(batch_no: UUID, ids: Sequence[int]) -> set[int]:
    return {id_ for (id_,) in run("still_ours", {"batch_no": batch_no, "ids": array(ids)})}


class Ready(NamedTuple):
    """A task that was claimed ahead of its time, and is still ours."""

    id: int
    due: bool  # now
    may: bool  # begin; False: its lane was paused meanwhile, its tenant suspended, or nothing may run
    clock: float  # epoch seconds, the database's


def ready(batch_no: UUID, ids: Iterable[int]) -> list[Ready]:
    """What has become of these tasks. One that is missing is no longer ours."""
    params = {"batch_no": batch_no, "ids": array(ids), "site": conf().site}
    return [Ready(*row) for row in run("ready", params)]


def finish_batch(batch_no: UUID) -> bool:
    """Close a batch of which nothing is RUNNING any more; False if something is, or it was finished already."""
    return bool(run("finish_batch", {"batch_no": batch_no}))

"""Owns how a peer is measured: the same steps for all, told what differs by a Peer. Its programs import nothing of
Punctual; `python PROGRAM.py '{"most": 20000, ...}'` prints what it measured as one JSON object, its last line."""

import dataclasses
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import psycopg
import record
import redis
import work
import workers

SIZES = (100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500)
PROBE = SIZES[-1]
DRAIN_SECONDS = 15  # a drain is sized to take no longer, as far as the probe can tell
ENQUEUE_SECONDS = 5
GRACE_SECONDS = 30  # after the last due time, until a rate counts as too much
WARM_UP = 1 << 40  # numbers of tasks that are not measured start here

Timed = tuple[int, float | None]  # a task's number, and its due time in epoch seconds; None is now


@dataclasses.dataclass(frozen=True)
class Peer:
    versions: Callable[[], dict[str, str]]  # of the peer itself, and of what it runs on
    settings: str  # in words, for the table
    prepare: Callable[[], None]  # what an empty database or broker needs first
    schedule: Callable[[list[Timed]], float | None]  # the seconds it took, if that is less than all of the call
    commands: Callable[[], list[list[str]]]  # of the worker processes
    left: Callable[[], int]  # tasks the peer still holds
    processes: int = 2  # that run handlers
    schemas: tuple[str, ...] = ()  # beside public
    drain_env: dict[str, str] = dataclasses.field(default_factory=dict)
    punctual_env: dict[str, str] = dataclasses.field(default_factory=dict)


def main(peer: Peer) -> None:
    wanted = json.loads(sys.argv[1])
    rounds, most = wanted["rounds"], wanted["most"]
    answer = {"versions": peer.versions(), "settings": peer.settings}
    size = fitting(enqueue(peer, PROBE), ENQUEUE_SECONDS, most)
    scheduled_per_s = statistics.median(enqueue(peer, size) for _ in range(rounds))
    answer["enqueue"] = {"tasks": size, "tasks_per_s": round(scheduled_per_s)}
    size = fitting(drain(peer, PROBE), DRAIN_SECONDS, most)
    runs = [drain(peer, size) for _ in range(rounds)]
    answer["drain"] = {
        "tasks": size,
        "tasks_per_s": round(statistics.median(runs)),
        "runs_per_s": list(map(round, runs)),
    }
    answer["punctual"] = {}
    for rate in wanted["rates"]:
        if statistics.median(runs) < rate:
            answer["punctual"][str(rate)] = cannot(f"its workers do {round(statistics.median(runs))} tasks a second")
        else:
            answer["punctual"][str(rate)] = punctual(peer, rate, wanted["seconds"], scheduled_per_s)
    print(json.dumps(answer))


def installed(*packages: str) -> dict[str, str]:
    return {name: version(name) for name in packages}


def fitting(per_s: float, seconds: float, most: int) -> int:
    return next((size for size in SIZES if size <= min(most, per_s * seconds)), SIZES[-1])


def enqueue(peer: Peer, tasks: int) -> float:
    """Tasks a second, due tomorrow at times of their own, no worker running."""
    empty(peer)
    timed = list(enumerate(work.times_from(time.time() + 86_400, tasks)))
    started = time.monotonic()
    took = peer.schedule(timed)
    return tasks / (took or time.monotonic() - started)


def drain(peer: Peer, tasks: int) -> float:
    """Tasks a second over the handlers' starts, from the moment at which all worker processes were at it."""
    empty(peer)
    peer.schedule([(number, None) for number in range(tasks)])
    tidy()
    with workers.running(peer.commands(), peer.drain_env) as alive:
        wait(lambda: record.count() >= tasks and peer.left() == 0, 120, alive, f"{tasks} tasks to be done")
    starts = record.starts()
    done = len({start.number for start in starts})
    if done != tasks:
        raise SystemExit(f"{tasks} tasks were to run, {done} did")
    first: dict[int, float] = {}
    for start in starts:
        first[start.process] = min(start.at, first.get(start.process, start.at))
    together = max(first.values())
    counted = [start.at for start in starts if start.at >= together]
    if len(counted) < tasks / 2:  # the second process came when most was done: too few tasks to leave its coming out
        together, counted = min(first.values()), [start.at for start in starts]
    return len(counted) / (max(counted) - together)


def punctual(peer: Peer, rate: int, seconds: int, scheduled_per_s: float) -> dict:
    """How late the handlers of evenly spread tasks start, all scheduled ahead beside the working processes."""
    for slower in (3, 12):  # than with no worker beside it, and one by one where enqueue was in bulk
        empty(peer)
        with workers.running(peer.commands(), peer.punctual_env) as alive:
            warm_up(peer, alive)
            first = float(int(time.time() + 4 + slower * rate * seconds / scheduled_per_s))
            due_at = {number: first + number / rate for number in range(rate * seconds)}
            peer.schedule(list(due_at.items()))
            tidy()
            if time.time() < first:
                return lateness(due_at, alive)
    return cannot("scheduling took so long that the first were due before the last was scheduled")


def lateness(due_at: dict[int, float], alive: workers.Workers) -> dict:
    tasks, first, last = len(due_at), min(due_at.values()), max(due_at.values())
    try:
        wait(lambda: record.count() >= tasks, last + GRACE_SECONDS - time.time(), alive, f"{tasks} tasks to start")
    except TimeoutError:
        return cannot(f"{record.count()} of {tasks} had started {GRACE_SECONDS} s after the last was due")
    return {"tasks": tasks} | record.lateness(due_at, after=first + 1)


def cannot(reason: str) -> dict:
    return {"p50_ms": None, "p99_ms": None, "reason": reason}


def warm_up(peer: Peer, alive: workers.Workers) -> None:
    """Until every process has run a task, or one has and the others had their chance."""
    deadline = time.monotonic() + 20
    while True:
        expected = record.count() + 20
        peer.schedule([(WARM_UP + number, None) for number in range(20)])
        wait(lambda expected=expected: record.count() >= expected, 60, alive, "the workers to come up")
        if len({start.process for start in record.starts()}) == peer.processes or time.monotonic() > deadline:
            break
    wait(lambda: peer.left() == 0, 60, alive, "the warm-up to be done")
    record.clear()


def wait(there: Callable[[], bool], seconds: float, alive: workers.Workers, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not there():
        alive.refuse_dead()
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.1)


def empty(peer: Peer) -> None:
    redis.Redis.from_url(os.environ["REDIS_URL"]).flushall()
    schemas = [f"DROP SCHEMA IF EXISTS {name} CASCADE" for name in ("public", *peer.schemas)]
    execute(*schemas, "CREATE SCHEMA public", "CHECKPOINT")
    record.clear()
    peer.prepare()


def tidy() -> None:
    """What autovacuum would do to a table that just grew, and what Punctual's benches do too."""
    execute("VACUUM ANALYZE", "CHECKPOINT")


def execute(*statements: str) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)

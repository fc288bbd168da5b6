"""sustain: 9,259 tasks/s for 10 minutes, half scheduled in calls of 100, half fired by jobs, all moved to the past.

Minutes stand for days (rotating_settings.py): what is over leaves the live tables after 20 s, lies in partitions of a
minute, and these are dropped two minutes later. So one run has all of it many times: planning, scheduling, claiming,
running, settling, the outbox, moving, making and dropping partitions.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from . import cost, feed
from .peers.programs import record
from .stack import ROOT, Stack, empty_tables, execute, percentile, query
from .tasks import wait_until

GOALS = {
    "lateness_p95_ms": {"at_most": 2_000},
    "p99_growth": {"at_most": 1.2},
    "live_growth": {"at_most": 1.2},
    "partitions_dropped": {"at_least": 1},
    "sustained_per_s": {"at_least": 15_000},
}
OPTIONS = ("rate", "seconds")
RATE = 9_259  # 800 million a day
SECONDS = 600
SEARCH_SECONDS = 60
SEARCH_STEP, SEARCH_ENOUGH, SEARCH_RUNS = 1.25, 1.06, 6
PERIOD = 60  # seconds between two firings of a job
AHEAD = 20  # seconds from when the processes are up to the first task that is due, at least
JOBS_PER_SECOND = 30_000  # that are written, at least
PARTS = 4  # of a run that is shorter than as many minutes
OVERTIME_SECONDS = 60  # in which what was due must have run
LOOK_SECONDS = 1.0
SETTINGS = "bench.rotating_settings"
# A p99 up to this is nothing that anybody would call late, and in a short run a few milliseconds more are no growth.
UNNOTICED_MS = 200

_JOBS = """
INSERT INTO punctual_job (tenant, name, task_type, payload, max_retry, cron, catch_up_window, catch_up_most, shard,
                            cursor, plan_from, status)
SELECT 'default', 'job-' || n, 'BENCH_DUE', '{}', 5, c.cron, 86400, 100, c.shard, c.id, now(), 'ACTIVE'
FROM generate_series(0, %(jobs)s - 1) AS n
JOIN punctual_job_cursor c ON c.phase = n %% %(period)s AND c.shard = (n / %(period)s) %% 16
"""
_CURSORS = """
INSERT INTO punctual_job_cursor (cron, phase, shard, next_fire)
SELECT format('%%s * * * * *', extract(second FROM %(first)s + s * interval '1 second')::int), s, shard,
       %(first)s + s * interval '1 second'
FROM generate_series(0, %(period)s - 1) AS s, generate_series(0, 15) AS shard
"""
# Each table with its partitions, if it has any.
_BYTES = """
SELECT coalesce(sum(pg_total_relation_size(t.relid)), 0)::bigint
FROM unnest(%s::text[]) AS name CROSS JOIN LATERAL (
    SELECT to_regclass(name) AS relid UNION SELECT relid FROM pg_partition_tree(to_regclass(name))
) AS t
"""
_PARTITIONS = "SELECT t.relid::regclass::text FROM pg_partition_tree('punctual_past') AS t WHERE t.isleaf"
LIVE = ["punctual_task", "punctual_batch"]
REST = ["punctual_past", "punctual_past_batch", "punctual_outbox", "punctual_attempt"]


class TooMuch(SystemExit):
    """Long after the last task was due, not all of them had run."""


class Look(NamedTuple):
    at: float  # epoch seconds
    live_bytes: int
    rest_bytes: int
    partitions: frozenset[str]


class Part(NamedTuple):
    """How late the tasks were that were due in one part of the run, in ms; and what the tables had at its end."""

    p50: float
    p95: float
    p99: float
    most: float
    live_bytes: int
    rest_bytes: int


class Sustained(NamedTuple):
    parts: list[Part]  # minutes, if there are enough of them
    dropped: int  # partitions
    fed_late_s: float
    a_task: dict[str, float]  # what one cost, without the processor time of who scheduled it

    @property
    def p95(self) -> float:
        return max(part.p95 for part in self.parts)

    @property
    def p99_growth(self) -> float:
        """The first part begins with an empty database and unknown paces: what it says is not what comes."""
        return self.parts[-1].p99 / self.parts[1].p99

    @property
    def live_growth(self) -> float:
        return self.parts[-1].live_bytes / self.parts[1].live_bytes

    @property
    def holds(self) -> bool:
        last = self.parts[-1]
        steady = self.p99_growth <= GOALS["p99_growth"]["at_most"] or last.p99 <= UNNOTICED_MS
        return self.p95 <= GOALS["lateness_p95_ms"]["at_most"] and steady


def run(stack: Stack, rate: int | None = None, seconds: int = SECONDS) -> dict:
    """Who names a rate wants to know about that one: the highest is not searched then."""
    searched, rate = rate is None, rate or RATE
    long = measure(stack, rate, seconds)
    parts = long.parts
    print(
        f"  {rate:,} tasks/s for {seconds} s: p95 {long.p95:.0f} ms, p99 grows {long.p99_growth:.2f}-fold, "
        f"live tables {long.live_growth:.2f}-fold, fed {long.fed_late_s:.1f} s late at worst",
        flush=True,
    )
    print("  p95 in ms, part by part:", *(f"{part.p95:.0f}" for part in parts), flush=True)

    def holds_at(tried: int) -> bool:
        try:
            short = measure(stack, tried, min(seconds, SEARCH_SECONDS))
        except TooMuch as why:
            stack.stop()
            print(f"  {tried:,} tasks/s: {why}", flush=True)
            return False
        print(f"  {tried:,} tasks/s: p95 {short.p95:.0f} ms, p99 grows {short.p99_growth:.2f}-fold", flush=True)
        return short.holds

    return {
        "lateness_p95_ms": round(long.p95, 1),
        "lateness_p50_ms": round(max(part.p50 for part in parts), 1),
        "lateness_p99_ms": round(max(part.p99 for part in parts), 1),
        "lateness_most_ms": round(max(part.most for part in parts), 1),
        "p99_growth": round(long.p99_growth, 3),
        "live_growth": round(long.live_growth, 3),
        "partitions_dropped": long.dropped,
        "sustained_per_s": search(holds_at, rate, holds=long.holds) if searched else None,
        **long.a_task,
        "p99_ms_by_part": [round(part.p99, 1) for part in parts],
        "live_mb_by_part": [part.live_bytes // 1_000_000 for part in parts],
        "rest_mb_by_part": [part.rest_bytes // 1_000_000 for part in parts],
        "fed_late_s": long.fed_late_s,
    }


def search(holds_at: Callable[[int], bool], rate: int, *, holds: bool) -> int:
    """The highest rate that holds, of a few that are tried: up or down by a quarter until one is found on either side
    of the limit, then between the two. 0: none held."""
    good, bad = (rate, None) if holds else (0, rate)
    for _ in range(SEARCH_RUNS):
        tried = _between(good, bad)
        if tried is None:
            break
        good, bad = (tried, bad) if holds_at(tried) else (good, tried)
    return good


def _between(good: int, bad: int | None) -> int | None:
    """The rate to try next; None: the two are close enough."""
    if bad is None:
        return round(good * SEARCH_STEP)
    if not good:
        return round(bad / SEARCH_STEP)
    return (good + bad) // 2 if bad / good > SEARCH_ENOUGH else None


def measure(stack: Stack, rate: int, seconds: int) -> Sustained:
    """All of it for so long; ends with a sentence if a task was not run, or run twice."""
    fired, fed = rate // 2, rate - rate // 2
    empty_tables()
    execute("TRUNCATE punctual_job, punctual_job_cursor")
    record.clear()
    stack.start(DJANGO_SETTINGS_MODULE=SETTINGS)
    ahead = AHEAD + fired * PERIOD // JOBS_PER_SECOND
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=ahead)
    first, last = start.timestamp(), start.timestamp() + seconds
    _make_jobs(fired, start)
    with _feeding(stack.folder, fed, seconds, first) as feeder, _looking(first, rate) as looks:
        wait_until(first)
        before = cost.read(stack)
        wait_until(last)
        a_task = cost.read(stack).since(before, rate * seconds) | {"tasks_per_batch": _batch_size()}
        _wait_run(fired * seconds + feed.total(fed, seconds), last)
        fed_late = float(feeder.communicate(timeout=30)[0] or "inf")
    stack.stop()
    return Sustained(_parts(first, seconds, looks), _dropped(looks), fed_late, a_task)


def _batch_size() -> float:
    """Of the batches that are not dropped yet, in the mean."""
    ((mean,),) = query("SELECT avg(ok + failed)::float8 FROM punctual_any_batch WHERE ok + failed > 0")
    return round(mean or 0.0, 1)


def _due_before(last: float) -> list[record.Start]:
    """Handlers tell when their task was due. The jobs go on firing after the run: ending them all would be work that
    no day has."""
    return [start for start in record.starts() if start.number < last * 1_000_000]


def _make_jobs(fired: int, start: datetime) -> None:
    """So many fire in each second; written by SQL, since so many requests are not what is measured here."""
    from django.db import transaction

    with transaction.atomic():  # a planner that saw a schedule without jobs would drop it
        execute(_CURSORS, {"period": PERIOD, "first": start})
        execute(_JOBS, {"jobs": fired * PERIOD, "period": PERIOD})
        execute("UPDATE punctual_job_cursor SET phase = 0")
    execute("VACUUM ANALYZE punctual_job, punctual_job_cursor")


@contextmanager
def _feeding(folder: Path, rate: int, seconds: int, first: float) -> Iterator[subprocess.Popen]:
    command = [sys.executable, "-m", "bench.feed", str(rate), str(seconds), str(first)]
    env = os.environ | {"DJANGO_SETTINGS_MODULE": SETTINGS}
    with (folder / "feed.log").open("w") as log:
        with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=log, text=True) as feeder:
            try:
                yield feeder
            finally:
                feeder.kill()


@contextmanager
def _looking(first: float, rate: int) -> Iterator[list[Look]]:
    """What the tables have, all the time, in a thread of its own; each minute it says how far the run is."""
    looks: list[Look] = []
    over = threading.Event()

    def look() -> None:
        from django.db import connection

        while not over.wait(LOOK_SECONDS):
            sizes = [query(_BYTES, [names])[0][0] for names in (LIVE, REST)]
            looks.append(Look(time.time(), *sizes, frozenset(name for (name,) in query(_PARTITIONS))))
            _tell_progress(looks, first, rate)
        connection.close()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        over.set()
        thread.join()


def _tell_progress(looks: Sequence[Look], first: float, rate: int) -> None:
    minute = int((looks[-1].at - first) // 60)
    if len(looks) > 1 and minute > 0 and int((looks[-2].at - first) // 60) < minute:
        behind = (looks[-1].at - first) * rate - record.count()
        live, rest = looks[-1].live_bytes // 1_000_000, looks[-1].rest_bytes // 1_000_000
        print(
            f"  minute {minute}: {record.count():,} tasks run, {max(behind, 0) / rate:.1f} s behind; "
            f"live tables {live} MB, the rest {rest} MB",
            flush=True,
        )


def _wait_run(expected: int, last: float) -> None:
    deadline = time.monotonic() + OVERTIME_SECONDS
    # The number of records costs nothing to ask for, and is never less than those of them that count.
    while record.count() < expected or len(_due_before(last)) < expected:
        if time.monotonic() > deadline:
            raise TooMuch(
                f"only {len(_due_before(last))} of {expected} tasks had run {OVERTIME_SECONDS} s after the last was due"
            )
        time.sleep(0.5)
    if (called := len(_due_before(last))) > expected:
        raise SystemExit(f"{expected} tasks were to run, and handlers were called {called} times")


def _parts(first: float, seconds: int, looks: Sequence[Look]) -> list[Part]:
    length = min(60.0, seconds / PARTS)
    late: list[list[float]] = [[] for _ in range(int(seconds / length))]
    for start in _due_before(first + seconds):
        due = start.number / 1_000_000
        late[min(int((due - first) / length), len(late) - 1)].append((start.at - due) * 1000)
    parts = []
    for number, some in enumerate(late):
        end = [look for look in looks if look.at <= first + (number + 1) * length][-1]
        some.sort()
        shares = [percentile(some, share) for share in (0.50, 0.95, 0.99, 1.0)]
        parts.append(Part(*shares, end.live_bytes, end.rest_bytes))
    return parts


def _dropped(looks: Sequence[Look]) -> int:
    return len(frozenset().union(*(look.partitions for look in looks)) - looks[-1].partitions)

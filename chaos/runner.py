"""Runs one scenario on a fresh stack: load, faults by the script, calm, and then the oracle's verdict."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import psycopg
from django.db import connection
from django.db.models import Max

from scheduler_project.temporary import TemporaryStack, temporary_stack
from tasks_app.embedded.processes import last_words

from . import curbs, journal, sites, turns
from .client import GO, READY
from .faults import Faults
from .fleet import ROOT, Fleet
from .graphs import make_graphs
from .oracle import FINAL, Verdict, judge
from .receiver import WEBHOOK, Receiver
from .recovery import Recovery, recoveries
from .scenarios import LEAVING, RUN_LEASE_SECONDS, WAVES, Fault, Scenario
from .split import Split
from .workload import (
    BACKFILLED_TYPE,
    MENDED,
    POISON_MAX_RETRY,
    Wish,
    crowded,
    departing,
    hopeless,
    innocents,
    instances,
    poisonous,
)

TICK_SECONDS = 0.05
UP_SECONDS = 300.0  # of a machine that others use
LIED_TO_STARTS = 3  # a process may end at a lie that it is told while it starts, but hardly three times in a row
LOOK_SECONDS = 0.25
CLIENT_LOG = "client.log"
PROGRESS_SECONDS = 5.0
SCHEDULED_AT_ONCE = 5_000
SCHEDULED_PER_SECOND = 5_000  # at least; all is scheduled before the first task is due
# After the run: nothing finished for two run leases means stuck; so does work that never ends.
STUCK_SECONDS = 2 * RUN_LEASE_SECONDS
DRAIN_SECONDS = 120.0


@dataclass(frozen=True)
class Result:
    scenario: Scenario
    seed: int
    verdict: Verdict
    recoveries: list[Recovery]
    drained_after: float  # seconds from the end of the load until everything was final

    @property
    def slow(self) -> list[Recovery]:
        return [one for one in self.recoveries if self.scenario.judges_recovery and not (one.in_time and one.on_time)]

    @property
    def passed(self) -> bool:
        return self.verdict.passed and not self.slow

    def as_dict(self) -> dict:
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            **self.verdict.as_dict(),
            "rto": [one.as_dict() for one in self.recoveries],
            "drained_after": self.drained_after,
            "passed": self.passed,
        }


def run(scenario: Scenario, seed: int, tasks: int) -> Result:
    with ExitStack() as ending:
        stack = ending.enter_context(
            temporary_stack("chaos", "chaos.settings", with_standby=scenario.standby, synchronous=not scenario.lags)
        )
        os.environ |= {"CHAOS_FOLDER": str(stack.folder), "CHAOS_SEED": str(seed)}
        return _Run(scenario, seed, stack).go(tasks, ending)


class _Run:
    def __init__(self, scenario: Scenario, seed: int, stack: TemporaryStack) -> None:
        self.scenario, self.seed, self.stack = scenario, seed, stack
        self.script = scenario.script(seed)
        self.fleet = Fleet(stack.folder, {**scenario.env})
        self.faults = Faults(stack.services, self.fleet, stack.standby)
        self.begun: list[tuple[Fault, float]] = []
        self.start = time.time()  # of the load; set when it is known
        self.calm = self.end = self.start
        self._progress_at = 0.0

    def go(self, tasks: int, ending: ExitStack) -> Result:
        if self.scenario.sites:
            self._found_sites(ending)
        self.fleet.start()
        ending.callback(self.fleet.stop)
        ending.callback(lambda: self.faults.copy and self.faults.copy.discard())
        self._wait_for_fleet()
        client = self._start_client(ending)
        dead = self._die(tasks // 4) if self.scenario.replays else []
        wishes = self._wishes(tasks // 10 if self.scenario.graphs else tasks)
        if self.scenario.events:
            _subscribe()
        if self.scenario.webhooks:
            self.faults.receiver = _receive()
            ending.callback(self.faults.receiver.kill)
        self.start = self.calm = time.time() + 1 + tasks / SCHEDULED_PER_SECOND
        graphs = self._graphs() if self.scenario.graphs else []
        _schedule(wishes, self.start)
        wishes += graphs
        if self.scenario.turns:
            turns.begin()
        if self.scenario.holds:
            curbs.begin()
        if self.scenario.sites:
            sites.begin()
        if dead:
            self._replay(len(dead))
            wishes += dead
        if self.scenario.backfills:
            wishes += self._backfill()
        self._wait(lambda: time.time() >= self.start)
        (self.stack.folder / GO).touch()
        self._under_fire()
        self.end = time.time()
        client.send_signal(signal.SIGTERM)
        self._wait(lambda: client.poll() is not None)
        if self.scenario.turns:
            turns.end()
        drained_after = self._drain()
        if self.scenario.events:
            self._wait_told()
        return self._result(wishes, drained_after)

    def _found_sites(self, ending: ExitStack) -> None:
        if self.scenario.standby:
            split = self.faults.split = Split(self.stack, ending)
            self.fleet.env_of = split.environment
            return
        url = self.stack.env["DATABASE_URL"]
        proxy = self.faults.proxy = sites.proxy_of(url)
        ending.callback(proxy.close)
        self.fleet.env_of = lambda name: sites.environment(name, proxy, url)

    def _result(self, wishes: Sequence[Wish], drained_after: float) -> Result:
        from . import evidence

        lost = (self.faults.cut_at, self.faults.promoted_at) if self.scenario.lags else None
        found = evidence.gather(self.scenario, self.script, wishes, self.fleet, (self.calm, self.end), lost)
        wrong_drains = evidence.wrong_drains(self.faults.drains) if self.scenario.drains else []
        wrong_sides = self.faults.split.wrong if self.faults.split else []
        found = replace(
            found, wrong_copies=self.faults.wrong_copies, wrong_drains=wrong_drains, wrong_sides=wrong_sides
        )
        verdict = judge(found)
        found = recoveries(self.begun, evidence.finishes(), evidence.batch_ends(), evidence.starts())
        result = Result(self.scenario, self.seed, verdict, found, round(drained_after, 1))
        if not result.passed:
            print(f"{self.fleet.logs()}\nAll logs and journals: {self.fleet.keep_logs()}", file=sys.stderr)
        return result

    def _wishes(self, tasks: int) -> list[Wish]:
        dice = random.Random(f"{self.seed}/workload")
        poison = poisonous(dice, self.scenario.poison_each, self.scenario.seconds)
        wishes = innocents(dice, tasks, self.scenario.seconds) + poison
        if self.scenario.leaves:
            return departing(wishes, LEAVING)
        return crowded(wishes, WAVES) if self.scenario.crowds else wishes

    def _graphs(self) -> list[Wish]:
        """The first of them fires when the load begins, which is put off until all are there."""
        self.start, wishes = make_graphs(random.Random(f"{self.seed}/graphs"), self.scenario.seconds)
        self.calm = self.start
        return wishes

    def _die(self, tasks: int) -> list[Wish]:
        """So many tasks are dead before the load begins, and what killed them is then mended."""
        wishes = hopeless(random.Random(f"{self.seed}/hopeless"), tasks)
        _schedule(wishes, time.time())
        self._wait(lambda: (self._counts() or (0,))[0] >= tasks)
        (self.stack.folder / MENDED).touch()
        return wishes

    def _replay(self, tasks: int) -> None:
        """All that died, at a rate at which it takes most of the run."""
        from tasks_app.engine.operations.campaigns import Pace, start_matching
        from tasks_app.engine.watch.browse import Filter
        from tasks_app.lifecycle.audit import Operator
        from tasks_app.lifecycle.operate import Verb

        pace = Pace(cap=tasks, rate=tasks / (0.7 * self.scenario.seconds), lane="low")
        start_matching(Verb.REPLAY, Filter(state="DEAD"), Operator("chaos", "it is mended"), pace)

    def _backfill(self) -> list[Wish]:
        """Two weeks of a job that fires every five minutes, at a rate at which it takes most of the run."""
        from django_punctual import Operator
        from django_punctual.campaigns import BackfillRequest, Pace, start_backfill
        from django_punctual.jobs import JobRequest, create_job, pause_job

        def operator() -> Operator:
            return Operator("chaos", "it was not there then")

        job = create_job(JobRequest(name="backfilled", task_type=BACKFILLED_TYPE, every=300), operator())
        pause_job(job.id, operator())  # what its schedule fires meanwhile would be in nobody's list
        until = datetime.now(UTC) - timedelta(hours=1)
        firings = job.schedule.until(until - timedelta(days=14), until, 10_000)
        request = BackfillRequest([job.id], firings[0], firings[-1])
        pace = Pace(rate=len(firings) / (0.7 * self.scenario.seconds), lane="low")
        start_backfill(request, operator(), pace)
        return instances(job.id, firings)

    def _under_fire(self) -> None:
        """Begin and end every fault at its moment; the load goes on for a while after the last."""
        events = [(fault.at, self._begin, fault) for fault in self.script]
        events += [(fault.at + fault.seconds, self._end, fault) for fault in self.script if fault.seconds]
        for at, act, fault in sorted(events, key=lambda event: event[0]):
            self._wait(lambda at=at: time.time() >= self.start + at)
            act(fault)
            self.calm = time.time()
        self._wait(lambda: time.time() >= self.start + self.scenario.seconds)

    def _begin(self, fault: Fault) -> None:
        self.begun.append((fault, time.time()))
        self.faults.begin(fault)

    def _end(self, fault: Fault) -> None:
        self.faults.end(fault)

    def _drain(self) -> float:
        """Until everything is final, or nothing moves any more; the oracle says what the rest is."""
        begun = moved_at = time.monotonic()
        last = None
        while time.monotonic() - begun < DRAIN_SECONDS:
            asked = time.monotonic()
            self._wait(lambda asked=asked: time.monotonic() > asked + LOOK_SECONDS)
            seen = self._counts()
            if seen is None:
                continue
            done, unfinished, waiting_for_their_time = seen
            held = (self.scenario.holds or self.scenario.sites) and self._any("punctual_curb")
            held |= self.scenario.leaves and self._any(
                f"punctual_tenant WHERE name = '{LEAVING}' AND state <> 'ARCHIVED'"
            )
            if not unfinished and not held and not self._any("punctual_campaign WHERE state = 'RUNNING'"):
                break
            if done != last or waiting_for_their_time or held:
                last, moved_at = done, time.monotonic()
            elif time.monotonic() - moved_at > STUCK_SECONDS:
                break
        return time.monotonic() - begun

    def _any(self, rows: str) -> bool:
        """Whether there are such rows, or nobody knows."""
        try:
            with psycopg.connect(self.stack.env["DATABASE_URL"], autocommit=True, connect_timeout=2) as connection:
                return bool(connection.execute(f"SELECT FROM {rows} LIMIT 1").fetchall())
        except psycopg.OperationalError:
            return True

    def _wait_told(self) -> None:
        """Until every subscriber has all, or for so long that it never will."""
        from tasks_app.engine.watch.relay_status import read_relay
        from tasks_app.models import OutboxEvent, OutboxWindow

        deadline = time.monotonic() + DRAIN_SECONDS
        connection.close()  # ours was cut with the others
        while time.monotonic() < deadline:
            cut = OutboxWindow.objects.aggregate(last=Max("max_id"))["last"]
            behind = any(one.waiting_events for one in read_relay().subscriptions)
            if not behind and not OutboxEvent.objects.filter(id__gt=cut or 0).exists():
                return
            self._wait_a_tick()

    def _wait(self, condition) -> None:
        while not condition():
            self._wait_a_tick()

    def _wait_a_tick(self) -> None:
        self.fleet.look()
        if time.monotonic() > self._progress_at:
            self._progress_at = time.monotonic() + PROGRESS_SECONDS
            self._say_progress()
        time.sleep(TICK_SECONDS)

    def _say_progress(self) -> None:
        seen = self._counts()
        words = "the database does not answer" if seen is None else f"{seen[0]} finished, {seen[1]} to do"
        print(
            f"  {time.time() - self.start:5.0f} s  {words}, {len(self.begun)} of {len(self.script)} faults", flush=True
        )

    def _counts(self) -> tuple[int, int, int] | None:
        """(final, unfinished, of these not yet due); None while the database is away."""
        try:
            with psycopg.connect(self.stack.env["DATABASE_URL"], autocommit=True, connect_timeout=2) as connection:
                return connection.execute(
                    "SELECT count(*) FILTER (WHERE status = ANY(%(final)s)) + (SELECT count(*) FROM punctual_past),"
                    "       count(*) FILTER (WHERE status <> ALL(%(final)s)),"
                    "       count(*) FILTER (WHERE due_at > clock_timestamp()) FROM punctual_task",
                    {"final": list(FINAL)},
                ).fetchone()
        except psycopg.OperationalError:
            return None

    def _wait_for_fleet(self) -> None:
        from tasks_app.models import Node

        deadline = time.monotonic() + UP_SECONDS
        starts = LIED_TO_STARTS if "CHAOS_LIES" in self.scenario.env else 1
        while Node.objects.count() < len(self.fleet.members):
            # Nothing has been broken yet: what ends now would end at every start.
            if ended := self.fleet.ended(starts):
                raise SystemExit(f"the fleet can't come up: {ended}")
            if time.monotonic() > deadline:
                raise SystemExit(f"the fleet did not come up within {UP_SECONDS:g} s:\n{self.fleet.logs()}")
            self._wait_a_tick()

    def _start_client(self, ending: ExitStack) -> subprocess.Popen:
        log = ending.enter_context((self.stack.folder / CLIENT_LOG).open("w"))
        env = os.environ | {"LOG_LEVEL": "WARNING", "CHAOS_PROCESS": "client"} | self.scenario.env
        client = subprocess.Popen(
            [sys.executable, "-m", "chaos.client"], cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT
        )
        ending.callback(client.kill)
        # Else a slow machine would be done with the faults before it calls for the first time.
        self._wait(lambda: client.poll() is not None or any(journal.read(READY)))
        if client.poll() is not None:
            raise SystemExit(last_words("client", client.returncode, self.stack.folder / CLIENT_LOG))
        return client


def _subscribe() -> None:
    from django_punctual import ToFunction, ToStream, subscribe

    from .subscribers import BAD, GOOD

    subscribe(GOOD, events=["*"], to=ToFunction(GOOD))
    subscribe(BAD, events=["*"], to=ToFunction(BAD))
    # Its stream is flushed with the broker; that may cost it entries, and nobody else anything.
    subscribe("chaos-stream", events=["*"], to=ToStream("chaos", maxlen=1_000))


def _receive() -> Receiver:
    from django_punctual import ToWebhook, subscribe

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    made = subscribe(WEBHOOK, events=["*"], to=ToWebhook(f"http://127.0.0.1:{port}/"))
    receiver = Receiver(port, made.new_secret)
    receiver.start()
    return receiver


def _schedule(wishes: Sequence[Wish], start: float) -> None:
    """Through the public door, before the first fault: all of these count as accepted."""
    from django_punctual import schedule_many

    by_type = defaultdict(list)
    _know_tenants({wish.tenant for wish in wishes})
    for wish in wishes:
        options = {"key": wish.key, "lane": wish.lane, "payload": wish.payload}
        options["at"] = datetime.fromtimestamp(start + wish.at, UTC)
        if wish.poison:
            options["max_retry"] = POISON_MAX_RETRY
        by_type[wish.task_type, wish.tenant].append(options)
    for (task_type, tenant), tasks in by_type.items():
        for first in range(0, len(tasks), SCHEDULED_AT_ONCE):
            schedule_many(task_type, tasks[first : first + SCHEDULED_AT_ONCE], tenant=tenant)


def _know_tenants(names: Collection[str]) -> None:
    """At once, and not when a beat meets them: a lane is shared if there are several."""
    from tasks_app.models import Tenant

    Tenant.objects.bulk_create([Tenant(name=name) for name in sorted(names)], ignore_conflicts=True)

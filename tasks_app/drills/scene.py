"""A drill while it goes on: the stack, its load, and what the journals have said so far."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field

from django.db import DatabaseError, InterfaceError

from tasks_app.client.subscriptions import ToFunction, subscribe
from tasks_app.database import close_connections
from tasks_app.embedded import EmbeddedError
from tasks_app.embedded.server import Server
from tasks_app.engine.doctor.examine import examine
from tasks_app.sql import execute

from .journal import Reader
from .judging import Asked, Done, Evidence, first_runs, is_back, runs_that_count
from .load import Load
from .stack import READY_SECONDS, Member, Stack
from .words import EFFECTS, REST, SLOW, SUBSCRIBER, TICK

TICK_SECONDS = 0.05
LOOK_SECONDS = 0.5
WELL_SECONDS = 120.0  # until then all must be on time; a machine that can't is no use for a drill
DRAIN_SECONDS = 60.0
UNWITNESSED_SECONDS = 3.0  # overdue for so long: perhaps its worker died between the commit and its line
CHECKED_TASKS = 200_000  # with more of them, the doctor would take longer than the drill

Say = Callable[[str], None]


@dataclass
class Scene:
    stack: Stack
    load: Load
    rest: int  # tasks that only lie there
    say: Say
    ending: ExitStack
    done: list[Done] = field(default_factory=list)
    calls: dict[str, list[int]] = field(default_factory=dict)  # the processes in which its handler was called, by key
    told: set[str] = field(default_factory=set)  # events, to the subscriber
    # What a restore lacks.
    gone: dict[str, Asked] = field(default_factory=dict)
    undone: dict[str, Done] = field(default_factory=dict)
    rpo: float = 0.0
    in_flight: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        folder = self.stack.folder
        self._readers = {name: Reader(folder / name) for name in ("calls", "done", "events")}

    @property
    def backup_places(self) -> list[str]:
        return list(self.stack.given["backup_urls"])

    # While it goes on.

    def read(self) -> None:
        for line in self._readers["calls"].lines():
            key, pid = line.split(" ")
            self.calls.setdefault(key, []).append(int(pid))
        for line in self._readers["done"].lines():
            key, began, committed = line.split(" ")
            self.done.append(Done(key, float(began), float(committed)))
        self.told.update(self._readers["events"].lines())

    def wait(
        self,
        condition: Callable[[], object],
        what: str,
        seconds: float = READY_SECONDS,
        *,
        needs: Iterable[Member] = (),
    ) -> None:
        """As that of the stack, and reads what the journals say meanwhile."""
        deadline = time.monotonic() + seconds
        while not condition():
            self.stack.refuse_ended(needs)
            if time.monotonic() > deadline:
                raise EmbeddedError(f"Waited {seconds:g} s in vain for {what}.\n{self.stack.logs()}")
            self.pause(TICK_SECONDS)

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)
        self.read()

    def kill_server(self, server: Server) -> None:
        """With every process that it has: as if its machine had lost power."""
        assert server.pid is not None
        os.killpg(server.pid, signal.SIGKILL)
        self.wait(lambda: not server.alive, f"the end of {server.title}")
        close_connections()

    def shards_of(self, pid: int) -> int:
        [(number,)] = execute(
            "SELECT count(*) FROM punctual_shard_lease WHERE holder IS NOT NULL AND holder_name LIKE %s", [f"%:{pid}"]
        )
        return int(number)

    def listen(self) -> None:
        """Somebody is told of everything, from before the first task on."""
        subscribe(SUBSCRIBER, events=["*"], to=ToFunction(SUBSCRIBER))

    def warm_up(self, seconds: float, warm: float) -> None:
        """Load for so many seconds; returns after `warm` of them or more, when all lanes are on time."""
        members = list(self.stack.members.values())
        begins = self.load.lay_out(seconds)
        self.wait(lambda: time.time() >= begins, "the first task", 2 * READY_SECONDS, needs=members)
        self.load.start_client()
        self.pause(warm)
        self.wait(
            lambda: is_back(begins, dict(self.load.asked), self.done, time.time()),
            "all lanes to be on time before the damage",
            WELL_SECONDS,
            needs=members,
        )

    def note_in_flight(self, mark: float) -> None:
        """Tasks that somebody had begun to run, and has not settled."""
        rows = execute(
            "SELECT t.biz_key FROM punctual_batch b CROSS JOIN unnest(b.ids) AS one(id) JOIN punctual_task t USING (id)"
            " WHERE b.started_at < to_timestamp(%s) AND b.finished_at IS NULL",
            [mark],
        )
        self.in_flight = frozenset(key for (key,) in rows)

    def until_back(self, mark: float, seconds: float) -> float:
        """Load until it can be said that the service is back, or for so long; returns when it ended."""
        deadline, looked = mark + seconds, 0.0
        while time.time() < deadline:
            self.pause(LOOK_SECONDS)
            expected = {key: one for key, one in dict(self.load.asked).items() if key not in self.gone}
            if is_back(mark, expected, self.done, time.time()):
                break
            if time.time() > looked + UNWITNESSED_SECONDS:
                looked = time.time()
                self._witness(expected)
        self.load.stop_client()
        return time.time()

    def drain(self, ended: float) -> None:
        """Until all that was due has run, or nothing more is to be expected."""
        deadline = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < deadline:
            self.pause(LOOK_SECONDS)
            began = first_runs(runs_that_count(self.done, self.undone))
            expected = {key: one for key, one in self.load.asked.items() if key not in self.gone}
            if all(key in began for key, one in expected.items() if one.due <= ended):
                return
            self._witness(expected)

    def note_what_is_missing(self, lost_at: float) -> None:
        """What was committed before that moment and is not in the database that we have now, before anything runs."""
        self.read()
        there, effects = self.statuses(), self.effects()
        self.gone = {key: one for key, one in self.load.asked.items() if key not in there}
        self.undone = {one.key: one for one in self.done if one.key not in effects}
        lost: list[Asked | Done] = [*self.gone.values(), *self.undone.values()]
        moments = [one.committed for one in lost]
        self.rpo = max(0.0, lost_at - min(moments)) if moments else 0.0
        self.say(
            f"what was committed {self.rpo:.2f} s before is missing: {len(self.gone)} tasks are gone, "
            f"{len(self.undone)} ran and will run again"
            if moments
            else "nothing that was committed is missing"
        )

    # What is found at the end.

    def evidence(self, mark: float, ended: float) -> Evidence:
        due = self._kept_events()  # tasks go on to run, and tell more; these must be told
        deadline = time.monotonic() + DRAIN_SECONDS
        while due - self.told and time.monotonic() < deadline:
            self.pause(LOOK_SECONDS)
        return Evidence(
            mark=mark,
            ended=ended,
            asked=self.load.asked,
            done=self.done,
            statuses=self.statuses(),
            effects=self.effects(),
            calls={key: len(pids) for key, pids in self.calls.items()},
            rest_lost=self.rest - self._rest(),
            events_due=due,
            events_told=frozenset(self.told),
            events_kept=self._kept_events(),
            broken_rules=self._broken_rules(),
            in_flight=self.in_flight,
            gone=frozenset(self.gone),
            undone=frozenset(self.undone),
            rpo=self.rpo,
        )

    def statuses(self) -> dict[str, str]:
        types = [TICK, SLOW]
        return dict(
            execute(
                "SELECT biz_key, status FROM punctual_task WHERE task_type = ANY(%(types)s) UNION ALL"
                " SELECT biz_key, status FROM punctual_past WHERE task_type = ANY(%(types)s)",
                {"types": types},
            )
        )

    def effects(self) -> Counter[str]:
        return Counter(key for (key,) in execute(f"SELECT key FROM {EFFECTS}"))

    def _rest(self) -> int:
        if not self.rest:
            return 0
        [(number,)] = execute("SELECT count(*) FROM punctual_task WHERE task_type = %s", [REST])
        return int(number)

    def _kept_events(self) -> frozenset[str]:
        rows = execute(
            "SELECT o.id, o.count FROM punctual_outbox o"
            " WHERE o.created_at >= (SELECT min(since) FROM punctual_subscription)"
        )
        return frozenset(f"{row}-{place}" for row, count in rows for place in range(1, count + 1))

    def _broken_rules(self) -> int:
        if self.rest > CHECKED_TASKS:
            return 0
        return sum(found.count for found in examine())

    def _witness(self, expected: dict[str, Asked]) -> None:
        """Tasks whose effect was committed, and whose worker died before it could write that down."""
        began, now = first_runs(self.done), time.time()
        overdue = [k for k, one in expected.items() if k not in began and now - one.due > UNWITNESSED_SECONDS]
        if not overdue:
            return
        try:
            rows = execute(
                f"SELECT t.biz_key, date_part('epoch', t.start_time), date_part('epoch', t.updated_at)"
                f" FROM punctual_task t JOIN {EFFECTS} e ON e.key = t.biz_key"
                " WHERE t.biz_key = ANY(%s) AND t.status = 'SUCCESS'"
                " AND t.updated_at < clock_timestamp() - interval '2 s'",
                [overdue],
            )
        except (DatabaseError, InterfaceError):
            close_connections()
            return
        self.read()
        known = first_runs(self.done)
        self.done.extend(Done(key, began, committed) for key, began, committed in rows if key not in known)

"""Random walks over every move of a task, checked after each step against a plain model and the database's rules."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from random import Random
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from django_punctual import Cancelled, Outcome, cancel, ensure, handler, reschedule, schedule
from tasks_app.core.away import Run
from tasks_app.core.errors import NotAway
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import SUCCEEDED, Failure, GoneAway, NotYet, Returned, Skipped
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.lifecycle.away import Completed, Failed, lose
from tasks_app.lifecycle.claim import return_batches
from tasks_app.lifecycle.dead_letter import Replayed, replay
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.reports import report
from tasks_app.lifecycle.settle import BatchLost, Settled, settle
from tasks_app.lifecycle.start import StartedBatch, finish_batch, heartbeat, start, still_ours
from tasks_app.sql import execute
from tests.support.engine import claim_due, expire_lease, make_due
from tests.support.marks import LONG_LEASES, commits
from tests.support.scale import FULL

pytestmark = commits

TYPE = "T_MODEL"
KEYS = "abc"
HOUR = 3600
UNDER_WAY = ("RUNNING", "AWAY")
NOW, LATER = "now", "later"  # due already; due, but not while the test runs


@dataclass
class Row:
    id: int
    key: str
    max_retry: int
    rolling: bool
    due: str | None
    token: object
    solo: bool = False
    status: str = "INIT"
    attempt: int = 0
    retry_count: int = 0
    current: bool = True
    batch: str | None = None
    run: str | None = None  # the batch that handed it over last
    silent: bool = False  # away, and its lease has run out
    letter: str | None = None  # the state of its last dead letter
    events: list[str] = field(default_factory=list)
    tries: list[int] = field(default_factory=list)  # the number of each failed try

    @property
    def live(self) -> bool:
        return self.due is not None or self.status in UNDER_WAY

    def leave(self, status: str, due: str | None, event: str | None = None) -> None:
        self.status, self.due, self.batch, self.silent = status, due, None, False
        if event:
            self.events.append(event)

    def come_back(self, due: str) -> None:
        self.leave("FAIL" if self.attempt else "INIT", due)

    def fail(self, *, final: bool, due: str) -> None:
        spent = final or self.attempt >= self.max_retry
        self.tries.append(self.attempt + 1)
        self.retry_count += 1
        self.attempt = 0 if spent and self.rolling else self.attempt + 1
        if spent and not self.rolling:
            self.leave("DEAD", None, "task.dead")
            self.letter = "OPEN"
        else:
            self.leave("FAIL", LATER if spent else due, "task.failed")


COMPARED = ("key", "status", "due", "batch", "attempt", "retry_count", "solo", "current", "token")
COMPARED += ("letter", "events", "tries")


@dataclass
class Batch:
    number: str
    ids: list[int]
    started: bool = False
    finished: bool = False
    expired: bool = False
    reaped: bool = False
    hand: StartedBatch | None = None  # what its worker has in hand, and goes on with whatever happens elsewhere
    answered: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Ending:
    """An outcome as the worker gives it, and as the model takes it."""

    outcome: object
    kind: str
    due: str | None = None
    final: bool = False
    solo: bool = False

    def __repr__(self) -> str:
        return f"{self.kind}({self.due or ''}{' final' * self.final}{' solo' * self.solo})"

    def happen_to(self, row: Row) -> None:
        match self.kind:
            case "success":
                row.attempt, row.solo = 0, False
                row.leave("SUCCESS", LATER if row.rolling else None, "task.succeeded")
            case "failure":
                row.solo = False
                row.fail(final=self.final, due=self.due)
            case "snooze":
                row.solo = False
                row.leave("INIT", self.due, "task.snoozed")
            case "away":
                row.solo, row.run = False, row.batch
                row.leave("AWAY", None, "task.away")
            case "skip":
                row.leave("CANCELLED", None, "task.cancelled")
            case "return":
                row.solo = row.solo or self.solo
                row.come_back(self.due)


ENDINGS = [
    Ending(SUCCEEDED, "success"),
    Ending(Failure("BROKEN", "now", after=0), "failure", NOW),
    Ending(Failure("BROKEN", "by the handler's back-off"), "failure", LATER),
    Ending(Failure("HOPELESS", "for good", final=True), "failure", final=True),
    Ending(NotYet(datetime(2020, 1, 1, tzinfo=UTC)), "snooze", NOW),
    Ending(NotYet(datetime(2090, 1, 1, tzinfo=UTC)), "snooze", LATER),
    Ending(Skipped("UNWANTED", "not wanted any more"), "skip"),
    Ending(GoneAway(HOUR), "away"),
    Ending(GoneAway(HOUR), "away"),
    Ending(Returned(), "return", NOW),
    Ending(Returned("AWAY", "in an hour", delay=HOUR), "return", LATER),
    Ending(Returned("SHARED", "one of many", solo=True), "return", NOW, solo=True),
]

REPORTS = [
    Completed({"pages": 3}),
    Completed(),
    Failed("BROKEN", "now", after=0.0),
    Failed("BROKEN", "by the handler's back-off"),
    Failed("HOPELESS", "for good", final=True),
]

MOVES = {  # and how often each is made
    "schedule": 4,
    "reschedule": 3,
    "ensure": 2,
    "cancel": 2,
    "replay": 3,
    "let time come": 6,
    "claim": 8,
    "return": 1,
    "start": 5,
    "settle": 9,
    "heartbeat": 1,
    "finish": 1,
    "report": 6,
    "lose": 2,
    "let a lease run out": 2,
    "reap": 5,
}


class Tasks(RuleBasedStateMachine):
    part = 0

    # A walk is a seed and a length. Drawn move by move, hypothesis makes six copies of each walk that differ in a move
    # or two, and long chains (schedule, claim, start, settle, lose, reap, replay) hardly ever come up.
    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed) -> None:
        self.dice = Random(f"{self.part}:{seed}")
        self.rows: dict[int, Row] = {}
        self.batches: list[Batch] = []
        self.reported: dict[tuple[int, str], object] = {}  # what was said of a task and a run, and taken
        with connection.cursor() as cursor:
            for table in (
                "punctual_task",
                "punctual_batch",
                "punctual_attempt",
                "punctual_dead_letter",
                "punctual_outbox",
                "punctual_away",
                "punctual_away_outcome",
                "punctual_early_report",
                "punctual_idempotency_record",
            ):
                cursor.execute(f"DELETE FROM {table}")
        for key in KEYS:
            self.schedule(key, NOW, self.dice.randint(0, 2), self.dice.random() < 0.4)

    @rule()
    def step(self) -> None:
        dice = self.dice
        [move] = dice.choices(list(MOVES), MOVES.values()) if self.batches else ["claim"]
        key, when, number = dice.choice(KEYS), dice.choice([NOW, NOW, NOW, LATER]), dice.randint(0, 2)
        note(f"{move} {key} {when} {number}")
        match move:
            case "schedule":
                self.schedule(key, when, number, dice.random() < 0.4)
            case "reschedule":
                self.place(key, when, reschedule, after_success=Outcome.IGNORED)
            case "ensure":
                self.place(key, when, ensure, after_success=Outcome.CREATED)
            case "cancel":
                self.cancel(key)
            case "replay":
                self.replay()
            case "let time come":
                self.let_time_come()
            case "claim":
                self.claim(number + 1)
            case "return":
                self.give_back(self.one_of(self.batches, lambda batch: not batch.started and not batch.finished))
            case "start":
                self.start(self.one_of(self.batches, lambda batch: not batch.started and not batch.finished))
            case "settle":
                self.settle(self.one_of(self.batches, lambda batch: not batch.finished))
            case "heartbeat":
                self.heartbeat(self.one_of(self.batches, lambda batch: not batch.finished))
            case "finish":
                self.finish(self.one_of(self.batches, lambda batch: not batch.finished))
            case "report":
                row = self.one_of(self.rows.values(), lambda row: row.status == "AWAY")
                known = [run for run in (row.run, row.batch) if run is not None]
                run = dice.choice(known if known and dice.random() < 0.8 else [one.number for one in self.batches])
                self.report(row, run, dice.choice(REPORTS))
            case "lose":
                self.lose(self.one_of(self.rows.values(), lambda row: row.status == "AWAY"))
            case "let a lease run out":
                self.expire(self.one_of(self.batches, lambda batch: not batch.finished))
            case "reap":
                if number:
                    self.expire(self.one_of(self.batches, lambda batch: not batch.finished))
                self.reap()

    # People.

    def schedule(self, key, when, max_retry, rolling) -> None:
        old = self.current(key)
        repeat_after = HOUR if rolling else None
        answer = schedule(TYPE, key, delay=delay(when), max_retry=max_retry, repeat_after=repeat_after)
        if old is not None and old.live:
            assert (answer.outcome, answer.task_id) == (Outcome.EXISTS, old.id)
        else:
            assert answer.outcome == Outcome.CREATED
            new = Row(answer.task_id, key, max_retry, rolling, when, token(answer.task_id), bool(old and old.solo))
            assert old is None or new.token != old.token
            self.take_over(old, new, "task.created")

    def place(self, key, when, verb, after_success) -> None:
        old = self.current(key)
        if old.status in ("CANCELLED", "DEAD"):
            expected = Outcome.CREATED
        elif old.status in UNDER_WAY:
            expected = Outcome.REPLACED
        else:
            expected = Outcome.UPDATED if old.live else after_success
        answer = verb(TYPE, key, delay=delay(when))
        assert answer.outcome == expected
        if expected in (Outcome.CREATED, Outcome.REPLACED):
            new = Row(answer.task_id, key, old.max_retry, old.rolling, when, token(answer.task_id), old.solo)
            assert (new.token == old.token) is (old.status != "SUCCESS")
            self.take_over(old, new, f"task.{expected.lower()}")
        else:
            assert answer.task_id == old.id
            old.due = when if expected == Outcome.UPDATED else None
            if expected == Outcome.UPDATED:
                old.events.append("task.updated")

    def cancel(self, key) -> None:
        row = self.current(key)
        answer = cancel(TYPE, key, reason="asked to", by="model")
        if row.live:
            assert answer == Cancelled(True, row.id, "CANCELLED")
            row.leave("CANCELLED", None, "task.cancelled")
        else:
            assert answer == Cancelled(False, row.id, row.status)

    def replay(self) -> None:
        """Replay a dead row, or any other, such as one that its unit has left behind."""
        row = self.one_of(self.rows.values(), lambda row: row.status == "DEAD")
        answer = replay([row.id], by="model")
        if row.status == "DEAD" and row.current:
            assert answer == Replayed([row.id], [])
            row.attempt, row.letter = 0, "REPLAYED"
            row.leave("INIT", NOW, "task.replayed")
        else:
            assert answer == Replayed([], [row.id])

    def let_time_come(self) -> None:
        row = self.one_of(self.rows.values(), lambda row: row.due == LATER)
        if row.due == LATER:
            make_due(row.id)
            row.due = NOW

    # The dispatcher.

    def claim(self, size) -> None:
        claimed = [Batch(batch.batch_no, ids_of(batch.batch_no)) for batch in claim_due(size)]
        due = [row for row in self.rows.values() if row.due == NOW]
        solo = {row.id for row in due if row.solo}
        assert sorted(id_ for batch in claimed for id_ in batch.ids) == sorted(row.id for row in due)
        assert {batch.ids[0] for batch in claimed if len(batch.ids) == 1} >= solo
        assert max((len(batch.ids) for batch in claimed), default=0) <= size
        assert len(claimed) == len(solo) + ceil((len(due) - len(solo)) / size)
        for batch in claimed:
            for id_ in batch.ids:
                row = self.rows[id_]
                row.status, row.due, row.batch = "RUNNING", None, batch.number
        self.batches += claimed

    # A worker; one whose batch was reaped does not know it, and goes on.

    def start(self, batch) -> None:
        """The first message, a doubled or a late one."""
        hand = start(batch.number, "worker")
        if batch.started or batch.finished:
            assert hand is None
            return
        held = self.held(batch)
        assert {(task.id, task.attempt) for task in hand.tasks} == {(row.id, row.attempt + 1) for row in held}
        batch.started, batch.hand, batch.expired = True, hand, False
        batch.finished = not held

    def settle(self, batch) -> None:
        """Some of its tasks, whether they were settled before or not; the batch is finished with the last one."""
        if batch.hand is None:
            self.start(batch)  # a batch is usually started a moment after it was claimed
        if batch.hand is None or not batch.hand.tasks:
            return
        tasks = self.dice.sample(batch.hand.tasks, self.dice.randint(1, len(batch.hand.tasks)))
        chosen = [(task, self.dice.choice(ENDINGS)) for task in tasks]
        note(f"    {chosen}")
        batch.answered |= {task.id for task, _ in chosen}
        finish = batch.answered >= {task.id for task in batch.hand.tasks}
        done = [Settled(task, ending.outcome) for task, ending in chosen]
        held = {row.id for row in self.held(batch)}
        try:
            moved = settle(batch.hand.batch_no, REGISTRY.get(TYPE), done, finish=finish)
        except BatchLost:
            assert batch.finished
            return
        assert not batch.finished
        assert moved == len([task for task, _ in chosen if task.id in held])
        for task, ending in chosen:
            if task.id in held:
                ending.happen_to(self.rows[task.id])
                if ending.kind == "away" and (task.id, batch.number) in self.reported:
                    self.come_home(self.rows[task.id], self.reported[task.id, batch.number])
        batch.finished = finish

    def heartbeat(self, batch) -> None:
        held = {row.id for row in self.held(batch)}
        assert still_ours(batch.number, batch.ids) == held
        gone = heartbeat(batch.number, batch.ids)
        if batch.finished:
            assert gone is None
        else:
            assert gone == set(batch.ids) - held
            batch.expired = False

    def finish(self, batch) -> None:
        closes = not batch.finished and not self.held(batch)
        assert finish_batch(batch.number) is closes
        batch.finished = batch.finished or closes

    # Whoever has what is away, or had it.

    def report(self, row, run, said) -> None:
        taken = self.reported.get((row.id, run))
        away, running = row.status == "AWAY" and row.run == run, row.status == "RUNNING" and row.batch == run
        try:
            answer = report(Run("default", row.token, row.id, UUID(run)), said)
        except NotAway:
            assert taken not in (None, said) or (taken is None and not away and not running)
            return
        assert taken == said or (taken is None and (away or running))
        if taken is None:
            self.reported[row.id, run] = said
            assert (answer["status"] == "RUNNING") is running
            if away:
                self.come_home(row, said)

    def come_home(self, row, said) -> None:
        if isinstance(said, Completed):
            row.attempt = 0
            row.leave("SUCCESS", LATER if row.rolling else None, "task.succeeded")
        else:
            row.fail(final=said.final, due=NOW if said.after == 0 else LATER)

    def lose(self, row) -> None:
        if row.status == "AWAY":
            query(
                "UPDATE punctual_away SET until = clock_timestamp() - interval '1 s' WHERE task = %s RETURNING 1",
                row.id,
            )
            row.silent = True
        lost = [row for row in self.rows.values() if row.silent]
        assert {one.id for one in lose()} == {row.id for row in lost}
        for one in lost:
            one.fail(final=False, due=LATER)

    # What brings tasks back.

    def expire(self, batch) -> None:
        expire_lease(batch.number)
        batch.expired = True

    def reap(self) -> None:
        lost = [batch for batch in self.batches if batch.expired and not batch.finished]
        told = {(b.batch_no, b.started, b.tasks) for b in reap()}
        assert told == {(batch.number, batch.started, len(self.held(batch))) for batch in lost}
        for batch in lost:
            for row in self.held(batch):
                row.solo = row.solo or batch.started
                if batch.started and len(batch.ids) == 1:
                    row.fail(final=False, due=LATER)
                else:
                    row.come_back(NOW)
            batch.finished = batch.reaped = True

    def give_back(self, batch) -> None:
        held = [] if batch.started or batch.finished else self.held(batch)
        assert return_batches([batch.number]) == len(held)
        for row in held:
            row.come_back(NOW)
        batch.finished = batch.finished or not batch.started

    # The model's own.

    def current(self, key: str) -> Row | None:
        return next((row for row in self.rows.values() if row.key == key and row.current), None)

    def one_of(self, things, suits):
        """One of those that suit, or, now and then or if there is none, any."""
        suitable = [thing for thing in things if suits(thing)]
        return self.dice.choice(suitable if suitable and self.dice.random() < 0.85 else list(things))

    def held(self, batch: Batch) -> list[Row]:
        return [self.rows[id_] for id_ in batch.ids if self.rows[id_].batch == batch.number]

    def take_over(self, old: Row | None, new: Row, event: str) -> None:
        if old is not None:
            if old.status in UNDER_WAY:
                old.leave("CANCELLED", None, "task.cancelled")
            old.current = False
            if old.letter == "OPEN":
                old.letter = "CLOSED"
        new.events.append(event)
        self.rows[new.id] = new

    # What is checked after every step.

    @invariant()
    def rows_are_as_the_model_says(self) -> None:
        expected = {row.id: tuple(getattr(row, name) for name in COMPARED) for row in self.rows.values()}
        assert read_rows() == expected

    @invariant()
    def batches_are_as_the_model_says(self) -> None:
        expected = {batch.number: (batch.ids, batch.started, batch.finished, batch.reaped) for batch in self.batches}
        assert read_batches() == expected

    @invariant()
    def rules_hold(self) -> None:
        assert_consistent()


def delay(when: str) -> float:
    return 0 if when == NOW else HOUR


def token(task_id: int) -> object:
    return query("SELECT token FROM punctual_task WHERE id = %s", task_id)[0][0]


def ids_of(batch_no: str) -> list[int]:
    return query("SELECT ids FROM punctual_batch WHERE batch_no = %s", batch_no)[0][0]


def read_rows() -> dict[int, tuple]:
    rows = query("""
        SELECT t.id, biz_key, status,
               CASE WHEN due_at <= clock_timestamp() THEN 'now'
                    WHEN due_at > clock_timestamp() + interval '30 min' THEN 'later'
                    ELSE due_at::text END,
               batch_no::text, attempt, retry_count, solo, current, token,
               (SELECT replay_status FROM punctual_dead_letter d WHERE d.task_id = t.id ORDER BY d.id DESC LIMIT 1),
               array(SELECT o.event::text FROM punctual_outbox o WHERE t.id = ANY (o.task_ids) ORDER BY o.id),
               array(SELECT a.attempt FROM punctual_attempt a WHERE a.task_id = t.id ORDER BY a.id)
        FROM punctual_task t""")
    return {id_: tuple(rest) for id_, *rest in rows}


def read_batches() -> dict[str, tuple]:
    rows = query(
        "SELECT batch_no::text, ids, started_at IS NOT NULL, finished_at IS NOT NULL, reaped FROM punctual_batch"
    )
    return {number: tuple(rest) for number, *rest in rows}


def query(statement: str, *params: object) -> list[tuple]:
    return execute(statement, params, long=True)


@pytest.fixture
def _world(settings):
    """The model's handler, and leases that run out only where the model says so."""
    settings.PUNCTUAL = settings.PUNCTUAL | LONG_LEASES
    handler(TYPE, backoff=[HOUR])(lambda task: None)
    yield
    REGISTRY.discard(TYPE)


@pytest.mark.usefixtures("every_event")
@pytest.mark.usefixtures("_world")
@pytest.mark.parametrize("number", range(60 if FULL else 1))
def test_every_walk_through_the_states_ends_where_the_model_says(number):
    class Part(Tasks):
        part = number

    run_state_machine_as_test(
        Part,
        settings=settings(
            max_examples=35 if FULL else 8,
            stateful_step_count=40,
            derandomize=not FULL,
            # A failed walk ends at its first wrong step, with all its steps told; a shorter seed is no simpler one.
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

"""What a beat tells of the chores that it has done, and in which threads it does them."""

import threading
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.engine import nodes
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.beat import chores
from tasks_app.engine.beat.chores import Chore, Chores
from tasks_app.models import MaintenanceEntry
from tasks_app.sql import execute, run
from tests.support.marks import commits
from tests.support.wait import wait_until

pytestmark = commits

SECONDS = 30.0  # that nobody should need
AGES = 10 * SECONDS
END_OWN_SESSION = "SELECT pg_terminate_backend(pg_backend_pid())"
LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def _once_a_minute(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"METRICS_SECONDS": 60.0, "SAFEGUARD_SECONDS": 9.0}


@pytest.fixture
def beat() -> Chores:
    return Chores(nodes.new_node_id(), "beat-1")


class Looking(Chores):
    """As in a beat that goes on looking."""

    looking = True

    def is_alive(self) -> bool:
        return self.looking


def entry(name: str = "count") -> MaintenanceEntry:
    return MaintenanceEntry.objects.annotate(now=Now()).get(name=name)


def told(**ago: float) -> None:
    """A beat has done these so many seconds ago, and tells it."""
    beat = {"node_id": nodes.new_node_id(), "name": "beat-1", "site": "main", "dispatching": False, "figures": None}
    none = {"names": [], "everys": [], "wanted": [], "keep": 600.0}
    run("take_chores", beat | none | {"done": list(ago), "ago": list(ago.values())})


def failed(seconds_ago: float) -> None:
    run("declare_chores", {"names": ["count"]})
    execute(
        "UPDATE punctual_chore SET failures = 3, error = 'no', done_at = now() - interval '1 hour', "
        "failing_since = clock_timestamp() - make_interval(secs => %s)",
        [seconds_ago],
    )


def test_what_was_done_is_told_along_with_the_next_look_as_of_when_it_was(beat):
    assert beat.run_once({"count"}) == ["count"]
    assert entry().done_at is None

    assert beat.run_once({"count"}) == []

    done = entry()
    assert done.ran_at <= done.done_at <= done.now
    beat.run_once({"count"})
    assert entry().done_at == done.done_at  # told once


def test_what_comes_rarely_is_told_at_once(beat):
    assert beat.run_once({"partition"}) == ["partition"]

    assert entry("partition").done_at is not None


def test_a_beat_that_rarely_looks_tells_everything_at_once(beat, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_SECONDS": 60.0, "NODE_TTL_SECONDS": 600.0}
    beat.run_once({"count"})

    assert entry().done_at is not None


def test_a_beat_that_leaves_tells_what_it_has_not_told_yet(beat):
    beat.run_once({"count"})
    beat.stop()

    beat.run()

    assert entry().done_at is not None


def test_a_look_that_fails_leaves_what_was_done_to_the_next(beat):
    beat.run_once({"count"})
    execute("ALTER TABLE punctual_wait RENAME TO punctual_wait_gone")
    try:
        beat.look({"count"})
    finally:
        execute("ALTER TABLE punctual_wait_gone RENAME TO punctual_wait")
    assert entry().done_at is None

    beat.run_once({"count"})

    assert entry().done_at is not None


def test_a_look_that_loses_its_connection_is_no_failure_of_any_chore(beat):
    other = Chores(nodes.new_node_id(), "beat-2")
    assert "levels" in other.run_once()
    other.wait_aside(SECONDS)
    end_own_session()

    beat.look()

    assert list(MaintenanceEntry.objects.exclude(failures=0)) == []
    MaintenanceEntry.objects.update(next_at=LONG_AGO)
    assert beat.run_once({"count"}) == ["count"]


def test_a_chore_that_loses_its_connection_has_failed_until_any_beat_has_done_it(monkeypatch, beat):
    breaking = Chore("partition", lambda: execute(END_OWN_SESSION))
    monkeypatch.setattr(chores, "CHORES", [breaking if one.name == "partition" else one for one in chores.CHORES])
    beat.look({"partition", "count"})
    assert list(MaintenanceEntry.objects.exclude(failures=0).values_list("name", "failures")) == [("partition", 1)]
    monkeypatch.undo()

    MaintenanceEntry.objects.update(next_at=LONG_AGO)
    Chores(nodes.new_node_id(), "beat-2").look({"partition"})

    assert entry("partition").failures == 0


def test_what_is_told_ends_a_failure_that_came_before_it_and_no_other():
    failed(20.0)
    told(count=30.0)
    still = entry()
    assert (still.failures, still.error) == (3, "no")
    assert 25 < (still.now - still.done_at).total_seconds() < 300  # it was done all the same

    told(count=10.0)

    well = entry()
    assert (well.failures, well.failing_since, well.error) == (0, None, "")


def test_what_is_told_late_takes_nothing_back():
    run("declare_chores", {"names": ["count"]})
    told(count=0.0)
    before = entry()

    told(count=600.0)

    after = entry()
    assert (after.done_at, after.next_at, after.ran_at, after.ran_by) == (before.done_at, before.next_at, None, "")


def test_a_chore_that_comes_often_keeps_its_thread_and_its_session_and_any_other_does_not():
    beat = Looking(nodes.new_node_id(), "beat-1")
    assert beat.run_once({"safeguard", "levels"}) == ["levels", "safeguard"]
    wait_until(lambda: not (thread("levels") or beat._aside["safeguard"].busy), SECONDS)
    first = thread("safeguard")
    MaintenanceEntry.objects.update(next_at=LONG_AGO)

    assert beat.run_once({"safeguard"}) == ["safeguard"]

    assert thread("safeguard") is first
    beat.wait_aside(SECONDS)
    assert thread("safeguard") is None
    assert entry("safeguard").done_at is not None


def test_a_beat_that_stops_lets_go_of_the_threads_that_stay():
    beat = Looking(nodes.new_node_id(), "beat-1")
    beat.run_once({"safeguard"})
    stays = thread("safeguard")

    beat.looking = False
    beat.stop()

    stays.join(SECONDS)
    assert not stays.is_alive()


@pytest.mark.parametrize(
    ("head_start", "in_turn", "overtakes"),
    [(AGES, AGES, False), (0.01, AGES, True), (AGES, 0.0, True)],
)
def test_a_chore_begins_when_the_one_before_is_done_or_has_had_its_head_start(
    monkeypatch, beat, head_start, in_turn, overtakes
):
    monkeypatch.setattr(chores, "HEAD_START_SECONDS", head_start)
    monkeypatch.setattr(chores, "IN_TURN_SECONDS", in_turn)
    second_began, seen = threading.Event(), []
    first = Chore("levels", lambda: seen.append(second_began.wait(SECONDS if overtakes else 0.05)), aside=True)

    beat._do_in_turn([first, Chore("hours", second_began.set, aside=True)])

    beat.wait_aside(SECONDS)
    assert seen == [overtakes]


class Stops(threading.Event):
    """Ends a beat as soon as it waits, and remembers for how long it would have."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        self.set()
        return True


def test_after_a_look_with_rests_the_next_one_comes_no_later(monkeypatch, beat):
    monkeypatch.setattr(chores, "FIRST", {"partition", "count"})
    beat._stopped = Stops()

    beat.run()

    rest, pause = beat._stopped.waits  # between the two; and after the look
    assert rest > 0
    assert pause == conf().NODE_SECONDS - beat._waited < conf().NODE_SECONDS


@pytest.mark.parametrize("what", ["it stops", "quarantine"])
def test_what_was_taken_and_must_not_begin_any_more_is_left_to_others(monkeypatch, beat, what):
    run("declare_chores", {"names": ["hours", "levels"]})
    MaintenanceEntry.objects.update(next_at=Now() + timedelta(days=1))
    quarantine, begun = (lambda: monkeypatch.setattr(BARRIER, "closed", "it is a copy")), []
    first = beat._stopped.set if what == "it stops" else quarantine

    beat._do_in_turn([Chore("hours", first), Chore("levels", lambda: begun.append("levels"))])

    assert begun == []
    due = MaintenanceEntry.objects.filter(next_at__lte=Now())
    assert set(due.values_list("name", flat=True)) & {"hours", "levels"} == {"levels"}


def test_what_was_taken_when_a_look_broke_off_is_due_again_for_any_beat(monkeypatch, beat):
    """A thread that can't be started ends the look; so does a connection that is lost while it gives chores back."""

    def no_thread(self) -> None:
        end_own_session()
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)

    beat.look({"levels", "partition", "count"})  # in this order: partition, count, levels

    monkeypatch.undo()
    assert entry("levels").next_at <= entry("levels").now
    assert entry("partition").next_at > entry("partition").now
    assert list(MaintenanceEntry.objects.exclude(failures=0)) == []


def end_own_session() -> None:
    with suppress(DatabaseError):
        execute(END_OWN_SESSION)


def thread(chore: str) -> threading.Thread | None:
    return next((one for one in threading.enumerate() if one.name == f"punctual-{chore}"), None)

"""The mover against whoever asks for a unit that is over: it is in one of the two places, and nobody fails."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connections

from django_punctual import Outcome, cancel, ensure, ensure_many, find, reschedule, schedule
from django_punctual.jobs import trigger_job
from tasks_app import sql
from tasks_app.core.errors import InvalidTask
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.lifecycle.cancel import Cancelled
from tasks_app.lifecycle.past import bring_back, move_batches, move_strays
from tasks_app.lifecycle.start import start
from tasks_app.models import AnyTask, PastTask, ScheduleTask, Tenant
from tests.support.contend import contend
from tests.support.jobs import by, make
from tests.support.marks import commits
from tests.support.moves import FINAL, OK, SKIP, TUESDAY, TYPE, WEDNESDAY, claim_one, ids_of, settled, started
from tests.support.overlap import overlap, overlap_results

pytestmark = commits
BOTH = pytest.mark.parametrize("commit", [True, False])


@pytest.fixture(autouse=True)
def _at_once(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.000001}


def move() -> int:
    """Whatever is over goes, however short ago it ended; how many tasks."""
    return move_batches().tasks + move_strays(0).tasks


def over(outcome=OK, key: str = "a", **options: object) -> int:
    """The id of a task that is over."""
    batch = started(key, **options)
    settled(batch, outcome)
    return ids_of(batch)[0]


def rows(key: str = "a") -> list[tuple[int, bool, int | None, bool]]:
    found = AnyTask.objects.filter(biz_key=key).order_by("id")
    return [(row.id, row.current, row.replaces, row.retention is not None) for row in found]


@BOTH
def test_what_is_moved_meanwhile_is_scheduled_anew(commit):
    old = over()

    moved, scheduled = overlap(move, lambda: schedule(TYPE, "a", at=TUESDAY), commit=commit)

    assert (moved, scheduled.outcome) == (1, Outcome.CREATED)
    new = scheduled.task_id
    assert rows() == [(old, commit, None, commit), (new, True, None if commit else old, False)]


@BOTH
def test_a_success_that_is_moved_meanwhile_is_not_moved_to_another_time(commit):
    old = over()

    _, answer = overlap(move, lambda: reschedule(TYPE, "a", at=TUESDAY), commit=commit)

    assert answer == (Outcome.IGNORED, old, None)
    assert rows() == [(old, True, None, commit)]


@BOTH
@pytest.mark.parametrize(("verb", "outcome"), [(ensure, OK), (ensure, SKIP), (reschedule, SKIP)])
def test_what_takes_over_from_a_task_that_is_moved_meanwhile_knows_it(verb, outcome, commit):
    old = over(outcome, payload={"n": 1}, lane="high")

    _, answer = overlap(move, lambda: verb(TYPE, "a", at=TUESDAY), commit=commit)

    assert answer.outcome == Outcome.CREATED
    assert rows() == [(old, False, None, False), (answer.task_id, True, old, False)]
    new = ScheduleTask.objects.get(id=answer.task_id)
    assert (new.payload, new.lane, new.due_at) == ({"n": 1}, "high", TUESDAY)


@pytest.mark.parametrize("verb", [schedule, reschedule, ensure], ids=lambda verb: verb.__name__)
def test_the_mover_passes_over_what_is_being_taken_over_from(verb):
    old = over(SKIP)

    scheduled, moved = overlap_results(lambda: verb(TYPE, "a", at=TUESDAY), move)

    assert (moved.value, moved.waited) == (0, False)
    assert rows() == [(old, False, None, False), (scheduled.value.task_id, True, old, False)]
    assert move() == 1
    assert rows() == [(old, False, None, True), (scheduled.value.task_id, True, old, False)]


@BOTH
def test_a_cancel_tells_what_became_of_what_is_moved_meanwhile(commit):
    old = over()

    _, answer = overlap(move, lambda: cancel(TYPE, "a"), commit=commit)

    assert answer == Cancelled(False, old, "SUCCESS")


def test_a_cancel_tells_what_became_of_what_was_moved_before():
    old = over()
    move()

    assert cancel(TYPE, "a") == Cancelled(False, old, "SUCCESS")


@BOTH
def test_an_idempotency_key_is_known_while_its_task_is_moved(commit):
    old = over(idem_key="order-1")

    _, answer = overlap(move, lambda: schedule(TYPE, "b", at=TUESDAY, idem_key="order-1"), commit=commit)

    assert answer == (Outcome.EXISTS, old, None)
    assert rows("b") == []


@BOTH
def test_a_job_is_not_triggered_again_while_its_instance_is_moved(commit):
    job = make(every=3600)
    first = trigger_job(job.id, "k", by()).task_id
    settled(start(claim_one(), "worker"))

    _, again = overlap(move, lambda: trigger_job(job.id, "k", by()), commit=commit)

    assert (again.task_id, again.new) == (first, False)


@BOTH
def test_a_look_that_comes_between_finds_it(commit):
    old = over()

    _, found = overlap(move, lambda: find(TYPE, "a"), commit=commit)

    assert (found.id, found.status) == (old, "SUCCESS")


def test_one_that_is_brought_back_between_two_looks_is_found():
    old = over(SKIP)
    move()

    # Before the past is asked, when what is live has been, somebody else has brought it back.
    with before_statement("past_by_id", lambda: in_another_thread(lambda: ensure(TYPE, "a", at=TUESDAY))):
        found = tasks_by_id([old])

    assert found[old].current is False
    assert not PastTask.objects.exists()


def test_a_unit_that_is_brought_back_between_two_looks_is_found():
    over(SKIP)
    move()
    again = []

    def bring_back() -> None:
        again.append(ensure(TYPE, "a", at=TUESDAY).task_id)

    with before_statement("past_current", lambda: in_another_thread(bring_back)):
        found = find(TYPE, "a")

    assert [found.id] == again


@pytest.mark.usefixtures("every_event")
@pytest.mark.parametrize(("verb", "outcome"), [(reschedule, Outcome.IGNORED), (ensure, Outcome.CREATED)])
def test_what_was_scheduled_run_and_moved_after_the_last_look_is_known(verb, outcome):
    """The verb has found the unit nowhere, and is about to insert it."""
    met = []

    def come_and_gone() -> None:
        met.append(over())
        assert move() == 1

    with before_statement("insert_told_tasks", lambda: met or in_another_thread(come_and_gone)):
        answer = verb(TYPE, "a", at=TUESDAY)

    (old,) = met
    assert answer.outcome == outcome
    if outcome == Outcome.IGNORED:
        assert rows() == [(old, True, None, True)]
    else:
        assert rows() == [(old, False, None, False), (answer.task_id, True, old, False)]


def test_what_was_brought_back_taken_over_and_moved_again_stays_in_the_past():
    """Two bring it back; when the second comes to it, all of it is over once more."""
    old = over(SKIP)
    move()
    met = []

    def come_and_gone() -> None:
        met.append(ensure(TYPE, "a", delay=0).task_id)
        settled(start(claim_one(), "worker"), SKIP)
        assert move() == 2

    with before_statement("bring_back", lambda: met or in_another_thread(come_and_gone)):
        answer = ensure(TYPE, "a", at=TUESDAY)

    (between,) = met
    assert answer.outcome == Outcome.CREATED
    assert rows() == [(old, False, None, True), (between, False, old, False), (answer.task_id, True, between, False)]


@contextmanager
def before_statement(name: str, call):
    """Before the statement of this name is run in this thread."""
    mine = threading.get_ident()
    ran = sql.execute

    def execute(statement, *rest, **how):
        if threading.get_ident() == mine and statement.startswith(f"-- {name}:"):
            call()
        return ran(statement, *rest, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sql, "execute", execute)
        yield


def in_another_thread(call) -> None:
    def run() -> None:
        try:
            call()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


def test_two_that_bring_the_same_task_back_agree():
    old = over(SKIP)
    move()

    first, second = overlap(lambda: ensure(TYPE, "a", at=TUESDAY), lambda: ensure(TYPE, "a", at=WEDNESDAY))

    assert (first.outcome, second) == (Outcome.CREATED, (Outcome.UPDATED, first.task_id, second.due))
    assert rows() == [(old, False, None, False), (first.task_id, True, old, False)]
    assert ScheduleTask.objects.get(id=first.task_id).due_at == WEDNESDAY


@BOTH
def test_a_new_task_and_one_that_brings_the_old_back_agree(commit):
    old = over(SKIP)
    move()

    new, second = overlap(
        lambda: schedule(TYPE, "a", at=TUESDAY), lambda: ensure(TYPE, "a", at=WEDNESDAY), commit=commit
    )

    if commit:
        assert second == (Outcome.UPDATED, new.task_id, second.due)
        assert rows() == [(old, True, None, True), (new.task_id, True, None, False)]
    else:
        assert rows() == [(old, False, None, False), (second.task_id, True, old, False)]


@BOTH
def test_one_that_brings_the_old_back_and_a_new_task_agree(commit):
    old = over(SKIP)
    move()

    first, second = overlap(
        lambda: ensure(TYPE, "a", at=TUESDAY), lambda: schedule(TYPE, "a", at=WEDNESDAY), commit=commit
    )

    if commit:
        assert second == (Outcome.EXISTS, first.task_id, None)
    else:
        assert rows() == [(old, True, None, True), (second.task_id, True, None, False)]


def test_nothing_is_brought_back_over_a_live_task():
    old = over(SKIP)
    move()
    schedule(TYPE, "a", at=TUESDAY)

    assert bring_back([old]) is False

    assert PastTask.objects.get().id == old


def test_two_movers_share_the_work():
    settled(started("a", "b", "c"))

    one, two = overlap_results(move, move)

    assert (one.value, two.value, two.waited) == (3, 0, False)


def test_units_brought_back_in_any_order_do_not_lock_each_other_out():
    settled(started("a", "b"), SKIP)
    move()

    def both(*keys: str):
        return lambda: ensure_many(TYPE, [{"key": key, "at": TUESDAY} for key in keys])

    results = contend(both("a", "b"), both("b", "a"), both("a", "b"))

    assert [result.error for result in results] == [None, None]


def test_what_is_live_or_dead_or_held_stays():
    settled(started("dead"), FINAL)
    settled(started("rolling", repeat_after=3600))
    started("running")
    schedule(TYPE, "scheduled", at=TUESDAY)

    assert move() == 0


@pytest.mark.parametrize("how", ["running", "dead"])
def test_an_edit_behind_one_that_replaces_the_task_is_about_the_new_one_and_not_about_what_is_in_the_past(how):
    over()
    assert move() == 1
    batch = started("a")
    if how == "dead":
        settled(batch, FINAL)

    first, second = overlap_results(
        lambda: reschedule(TYPE, "a", at=TUESDAY), lambda: reschedule(TYPE, "a", at=WEDNESDAY)
    )

    took_over = Outcome.CREATED if how == "dead" else Outcome.REPLACED
    assert (first.value.outcome, second.value.outcome) == (took_over, Outcome.UPDATED)
    assert find(TYPE, "a").due_at == WEDNESDAY


@pytest.mark.parametrize("verb", [ensure, reschedule])
def test_an_edit_that_is_refused_brings_nothing_back(verb):
    over(SKIP, tenant="acme")
    assert move() == 1
    Tenant.objects.update_or_create(name="acme", defaults={"closed": True})

    with pytest.raises(InvalidTask, match="nothing was written"):
        verb(TYPE, "a", at=TUESDAY, tenant="acme")

    assert (ScheduleTask.objects.count(), PastTask.objects.count()) == (0, 1)

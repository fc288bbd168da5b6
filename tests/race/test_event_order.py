"""Two changes of one unit overlap: their events are numbered in the order of the changes, and each is told once."""

from datetime import datetime
from uuid import uuid4

import pytest

from articles_app.lifecycle import change_publish_time
from django_punctual import cancel, ensure, reschedule, schedule
from django_punctual.rolling import change_interval
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.sql import execute
from tests.support import articles
from tests.support.contend import contend
from tests.support.engine import expire_lease, row
from tests.support.events import told
from tests.support.marks import commits
from tests.support.moves import (
    MONDAY,
    OK,
    RETRY,
    TUESDAY,
    TYPE,
    WEDNESDAY,
    claim_one,
    dead,
    scheduled,
    settled,
    started,
)
from tests.support.overlap import overlap

pytestmark = [commits, pytest.mark.usefixtures("every_event")]


def of_unit(key: str = "a") -> list[str]:
    """In order of revision, without how it began."""
    return [event.type for event in sorted(told("task.*"), key=lambda one: one.revision) if event.key == key][1:]


def to(moment):
    return lambda: reschedule(TYPE, "a", at=moment)


def call_off():
    return cancel(TYPE, "a", reason="not wanted")


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize(
    ("first", "second", "both", "one"),
    [
        (to(TUESDAY), to(WEDNESDAY), ["task.updated", "task.updated"], ["task.updated"]),
        (to(TUESDAY), call_off, ["task.updated", "task.cancelled"], ["task.cancelled"]),
        (call_off, to(TUESDAY), ["task.cancelled", "task.created"], ["task.updated"]),
        (call_off, lambda: ensure(TYPE, "a", at=TUESDAY), ["task.cancelled", "task.created"], ["task.updated"]),
        (call_off, call_off, ["task.cancelled"], ["task.cancelled"]),
    ],
    ids=["move, move", "move, cancel", "cancel, move", "cancel, ensure", "cancel, cancel"],
)
def test_of_two_who_change_what_waits_the_second_is_told_as_the_later(first, second, both, one, commit):
    scheduled("a", at=MONDAY)

    overlap(first, second, commit=commit)

    assert of_unit() == (both if commit else one)
    if commit and both == ["task.updated", "task.updated"]:
        moves = sorted(told("task.updated"), key=lambda event: event.revision)
        assert [event.data["new"] for event in moves] == [TUESDAY.isoformat(), WEDNESDAY.isoformat()]
        assert moves[1].data["old"] == TUESDAY.isoformat()


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("interval_first", [True, False])
def test_another_interval_and_a_move_are_told_one_after_the_other(interval_first, commit):
    scheduled("a", at=MONDAY, repeat_after=86_400)
    both = [lambda: change_interval(TYPE, ["a"], 3_600), to(TUESDAY)]

    overlap(*(both if interval_first else reversed(both)), commit=commit)

    moves = sorted(told("task.updated"), key=lambda event: event.revision)
    assert len(moves) == (2 if commit else 1)
    assert moves[0].data["old"] == MONDAY.isoformat()
    assert moves[-1].data["old"] == (moves[0].data["new"] if commit else MONDAY.isoformat())
    assert datetime.fromisoformat(moves[-1].data["new"]) == row(moves[-1].task).due_at


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize(("outcome", "kind"), [(OK, "task.succeeded"), (RETRY, "task.failed")], ids=["ok", "retry"])
def test_a_settle_and_a_cancel(outcome, kind, commit):
    batch = started("a")

    overlap(lambda: settled(batch, outcome), call_off, commit=commit)

    over = commit and outcome is OK
    assert of_unit() == ([kind] if over else [kind, "task.cancelled"] if commit else ["task.cancelled"])


@pytest.mark.parametrize("commit", [True, False])
def test_a_move_of_what_runs_and_its_settle(commit):
    batch = started("a")

    overlap(to(TUESDAY), lambda: settled(batch), commit=commit)

    assert of_unit() == (["task.cancelled", "task.replaced"] if commit else ["task.succeeded"])


@pytest.mark.parametrize("commit", [True, False])
def test_a_reap_and_a_move(commit):
    batch = started("a")
    expire_lease(str(batch.batch_no))

    overlap(reap, to(TUESDAY), commit=commit)

    assert of_unit() == (["task.failed", "task.updated"] if commit else ["task.cancelled", "task.replaced"])


@pytest.mark.parametrize("commit", [True, False])
def test_two_replays_of_one_letter_are_told_once(commit):
    ids = dead("a")

    overlap(lambda: replay(ids, by="olga"), lambda: replay(ids, by="otto"), commit=commit)

    [again] = told("task.replayed")
    assert again.data == {"by": "olga" if commit else "otto"}


@pytest.mark.parametrize("commit", [True, False])
def test_two_who_schedule_a_unit_tell_of_one_task(commit):
    first, second = overlap(
        lambda: schedule(TYPE, "a", at=MONDAY), lambda: schedule(TYPE, "a", at=TUESDAY), commit=commit
    )

    [created] = told("task.created")
    assert created.task == second.task_id
    assert (first.task_id == second.task_id) is commit


@pytest.mark.parametrize("commit", [True, False])
def test_two_changes_of_a_publish_time_are_told_in_order(commit):
    article = articles.approved(MONDAY)

    overlap(
        lambda: change_publish_time(article, TUESDAY, actor="ann"),
        lambda: change_publish_time(article, WEDNESDAY, actor="bob"),
        commit=commit,
    )

    changes = sorted(told("article.publish_time_changed"), key=lambda event: event.revision)
    assert [event.data["actor"] for event in changes] == (["ann", "bob"] if commit else ["bob"])
    assert changes[-1].data["new"] == articles.row(article).publish_time.isoformat()
    assert [event.data["revision"] for event in changes] == sorted(event.data["revision"] for event in changes)


def test_the_number_is_drawn_when_the_unit_is_locked_and_not_when_the_statement_begins():
    """Somebody has it locked; a move waits for it, and then a cancel. That is one statement, which has begun before the
    move is told."""
    scheduled("a", at=MONDAY)
    lock = "SELECT id FROM punctual_task WHERE biz_key = 'a' FOR UPDATE"

    moved, cancelled = contend(lambda: execute(lock), to(TUESDAY), call_off)

    assert (moved.waited, cancelled.waited) == (True, True)
    assert of_unit() == ["task.updated", "task.cancelled"]


# A start that is asked for again.


@pytest.mark.parametrize("commit", [True, False])
def test_a_late_start_is_told_once_though_it_was_asked_for_twice_at_once(commit):
    scheduled("a")
    execute("UPDATE punctual_task SET due_at = clock_timestamp() - interval '5 min'")
    number, ticket = claim_one(), uuid4()

    overlap(lambda: start(number, "w", ticket), lambda: start(number, "w", ticket, again=True), commit=commit)

    assert len(told("task.late")) == 1


def test_a_late_start_is_told_once_though_its_answer_was_lost():
    scheduled("a")
    execute("UPDATE punctual_task SET due_at = clock_timestamp() - interval '5 min'")
    number, ticket = claim_one(), uuid4()

    for again in (False, True, True):
        assert start(number, "w", ticket, again=again) is not None

    assert len(told("task.late")) == 1

"""A subscriber reads what it wants, in order, in chunks of bounded size, and goes on where it was."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tasks_app.engine.beat.relay import reader
from tasks_app.engine.beat.relay.reader import Cursor, pending, read, wanted_by
from tasks_app.models import OutboxWindow, Subscription
from tests.support.marks import commits
from tests.support.outbox import TYPE, cut, everything, keys_of, read_all, write

pytestmark = commits


def test_an_event_has_all_that_the_row_says_of_it():
    row = write("a", "b", event="task.dead", tenant="acme")
    cut()

    one, two = read(Cursor(0), everything).events

    assert (one.id, two.id) == (f"{row}-1", f"{row}-2")
    assert (one.tenant, one.type, one.unit, one.state, one.data) == (
        "acme",
        "task.dead",
        ("acme", TYPE, "a"),
        "DEAD",
        {"key": "a"},
    )
    assert two.as_json()["unit"] == {"task_type": TYPE, "key": "b"}


@pytest.mark.parametrize(
    ("wants", "gets"),
    [
        ({"events": ["*"]}, ["dead", "failed", "other"]),
        ({"events": ["task.*"], "tenant": "default"}, ["dead", "failed"]),
        ({"events": ["task.*", "!task.failed"]}, ["dead", "other"]),
        ({"events": ["task.dead"], "tenant": "acme"}, ["other"]),
        ({"events": ["*"], "task_types": ["T_Q*"]}, ["dead"]),
        ({"events": ["*"], "task_types": ["*", "!T_QUIET"]}, ["failed", "other"]),
        # Stored before patterns had limits.
        ({"events": ["*" * 200 + "d"], "task_types": ["*" * 200 + "z", "*" * 200 + "T"]}, ["dead"]),
    ],
)
def test_it_gets_what_it_wants_and_nothing_else(wants, gets):
    write("dead", event="task.dead")
    write("failed", event="task.failed", task_type="T_OTHER")
    write("other", event="task.dead", tenant="acme", task_type="T_OTHER")
    cut()

    assert keys_of(read_all(Cursor(0), wanted_by(Subscription(**({"task_types": []} | wants))))) == gets


def test_a_chunk_is_bounded_and_the_next_begins_behind_it():
    rows = [write(f"{number}a", f"{number}b", f"{number}c") for number in range(4)]
    cut()

    first = read(Cursor(0), everything, most=6)
    second = read(first.end, everything, most=6)

    assert {event.row for event in first.events} == set(rows[:2])
    assert {event.row for event in second.events} == set(rows[2:])
    assert (first.more, read(second.end, everything).events) == (True, [])


def test_a_cursor_may_be_in_the_middle_of_a_row():
    row = write("a", "b", "c")
    cut()

    assert keys_of(read(Cursor(1, row, 2), everything).events) == ["c"]


def test_more_rows_and_windows_than_one_look_lists_are_read_all_the_same(monkeypatch):
    monkeypatch.setattr(reader, "ROWS", 3)
    monkeypatch.setattr(reader, "WINDOWS", 2)
    for number in range(10):
        write(str(number))
        if number % 2:
            cut()

    assert keys_of(read_all()) == [str(number) for number in range(10)]
    assert keys_of(read_all(wanted=lambda tenant, event, task_type: False)) == []
    assert pending(Cursor(0), everything) == 10


def test_what_lies_between_two_places_is_counted(monkeypatch):
    monkeypatch.setattr(reader, "ROWS", 2)
    monkeypatch.setattr(reader, "WINDOWS", 1)
    rows = []
    for number in range(4):
        rows.append(write(f"{number}a", f"{number}b", f"{number}c"))
        cut()

    def between(first: Cursor, last: Cursor) -> int:
        return pending(first, everything, until=last)

    assert between(Cursor(0), Cursor(3, rows[2], 1)) == 7
    assert between(Cursor(1, rows[0], 2), Cursor(3, rows[2], 1)) == 5
    assert between(Cursor(1, rows[0], 1), Cursor(1, rows[0], 2)) == 1
    assert (between(Cursor(2), Cursor(3)), between(Cursor(3), Cursor(3)), between(Cursor(0), Cursor(9))) == (3, 0, 12)


def test_a_large_stretch_that_nobody_wants_is_passed_over_step_by_step(monkeypatch):
    monkeypatch.setattr(reader, "ROWS", 2)
    for number in range(5):
        write(str(number), event="task.failed")
    write("wanted", event="task.dead")
    cut()

    first = read(Cursor(0), lambda tenant, event, task_type: event == "task.dead")

    assert (first.events, first.more) == ([], True)
    assert keys_of(read_all(wanted=lambda tenant, event, task_type: event == "task.dead")) == ["wanted"]


def test_what_was_written_before_a_time_is_left_out():
    write("before")
    moment = timezone.now()
    write("after")
    cut()

    assert keys_of(read(Cursor(0), everything, moment).events) == ["after"]
    assert keys_of(read(Cursor(0), everything, moment - timedelta(hours=1)).events) == ["before", "after"]


def test_rows_of_the_version_before_are_told_too():
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO punctual_outbox (tenant, event, task_id, xid) VALUES ('default', 'task.failed', 7, NULL)"
        )
    cut()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO punctual_outbox (tenant, event, task_id) VALUES ('default', 'task.dead', 8)")
    cut()

    assert [(event.type, event.task) for event in read_all()] == [("task.failed", 7), ("task.dead", 8)]
    assert OutboxWindow.objects.count() == 2

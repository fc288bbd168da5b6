"""Races of who makes an entry in the timetable, claims what waits there or gives it back, and notes what is passed."""

from datetime import datetime

from django.db import connection

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import pass_entries, return_batches
from tests.support.engine import batch_row, claim_due, row
from tests.support.marks import commits
from tests.support.moves import scheduled
from tests.support.overlap import overlap
from tests.support.sides import sides

pytestmark = commits


def note() -> None:
    """As often as it takes to make a mark and to pass what lies before it."""
    for _ in range(3):
        pass_entries(range(conf().SHARDS))


def passed(task: int) -> bool:
    one = row(task)
    with connection.cursor() as cursor:
        cursor.execute("SELECT passed ->> %s FROM punctual_timetable WHERE shard = %s", [one.lane, one.shard])
        [[at]] = cursor.fetchall()
    return at is not None and datetime.fromisoformat(at) > one.entry_at


def claimed() -> list[int]:
    return [id_ for batch in claim_due() for id_ in batch_row(batch).ids]


def test_an_entry_of_a_transaction_that_is_still_open_is_not_passed():
    [task], _ = overlap(lambda: scheduled("a"), note)
    pass_entries(range(conf().SHARDS))

    assert not passed(task)
    assert claimed() == [task]


def test_the_number_of_an_open_transaction_holds_back_what_it_may_yet_write():
    """It has written something else, long before its task."""

    def writes_first() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()")
        note_elsewhere.result(60)
        return scheduled("a")[0]

    with sides(1) as begin:
        note_elsewhere = begin(0, note)
        task, _ = overlap(writes_first, note)
    pass_entries(range(conf().SHARDS))

    assert not passed(task)
    assert claimed() == [task]


def test_what_an_open_transaction_has_claimed_is_not_passed_and_waits_if_that_is_rolled_back():
    [task] = scheduled("a")

    overlap(claim_due, note, commit=False)

    assert not passed(task)
    assert claimed() == [task]


def test_what_is_given_back_while_it_is_passed_waits_apart():
    [task] = scheduled("a")
    batches = [batch.batch_no for batch in claim_due()]

    overlap(lambda: return_batches(batches), note)
    note()

    assert passed(task) and row(task).wait_at == row(task).due_at
    assert claimed() == [task]


def test_two_who_note_at_once_pass_nothing_that_waits():
    [done], _ = scheduled("a"), claim_due()
    [waiting] = scheduled("b")

    overlap(note, note)

    assert not passed(waiting)
    assert claimed() == [waiting] != [done]

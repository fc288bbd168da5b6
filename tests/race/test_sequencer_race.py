"""No event is skipped and none of a unit comes out of turn, whatever order transactions begin, write and commit in."""

import json

import pytest

from tasks_app.engine.beat.relay.reader import Cursor, read
from tasks_app.engine.beat.relay.sequencer import Sequencer
from tasks_app.models import OutboxWindow
from tests.support.marks import commits
from tests.support.outbox import cut, everything, keys_of, read_all, write, writers
from tests.support.overlap import overlap

pytestmark = commits


@pytest.fixture(autouse=True)
def _begun():
    """There is a first window: what comes is between two snapshots."""
    write("first")
    assert cut() == 1


def test_what_commits_late_is_not_skipped():
    with writers(2) as (older, newer):
        older.begin().write("older")  # has the smaller number of both kinds, and is open while the relay runs
        newer.write("newer")
        newer.commit()

        cut()
        first = read(Cursor(2), everything)
        older.commit()
        cut()
        second = read(first.end, everything)

    assert keys_of(first.events) == ["newer"]
    assert keys_of(second.events) == ["older"]


def test_what_is_rolled_back_is_never_told():
    with writers(1) as (one,):
        one.write("never")
        cut()
        one.rollback()

    assert (cut(), keys_of(read_all(Cursor(2)))) == (1, [])


def test_a_unit_s_events_come_in_the_order_in_which_its_row_was_locked():
    """The transaction that changes the unit last has the smallest number, and a third one lies between the two."""
    with writers(3) as (last, between, first):
        last.begin()
        between.begin()
        first.begin().write("unit")  # changes the unit, and commits
        first.commit()
        last.write("unit")  # could lock it only then
        last.commit()

        cut()
        between.commit()
        cut()
        events = read_all(Cursor(2))

    assert keys_of(events) == ["unit", "unit"]
    assert events[0].revision < events[1].revision


def test_a_long_transaction_holds_up_nothing_but_its_own_events():
    with writers(1) as (long,):
        long.begin().write("long")
        for number in range(3):
            write(f"short-{number}")
            cut()
        seen = keys_of(read_all(Cursor(2)))
        long.commit()
        write("last")
        cut()  # a window whose rows lie around those of others

    assert seen == ["short-0", "short-1", "short-2"]
    assert keys_of(read_all(Cursor(2))) == [*seen, "long", "last"]


def test_two_sequencers_make_one_window_of_the_same_rows():
    write("a")

    overlap(lambda: _record_in_transaction(2), lambda: Sequencer().run_once())

    assert OutboxWindow.objects.filter(no=2).count() == 1
    write("b")
    cut()
    cut()
    assert keys_of(read_all(Cursor(2))) == ["a", "b"]


def _record_in_transaction(no: int) -> None:
    """What a sequencer does, held between its insert and its commit."""
    from tasks_app.sql import run

    ((snapshot, last, after, floor_id, *rows, tenants, _topics),) = run("gather_window", {})
    assert last == no - 1
    names = ("min_id", "max_id", "min_at", "max_at", "count")
    window = {"no": no, "before": after, "after": snapshot, "floor_id": floor_id, "topics": None, "system": 1}
    window["tenants"] = json.dumps(tenants)
    window["system"] = run("newest_window", {})[0][0]
    run("record_window", window | dict(zip(names, rows, strict=True)))


@pytest.mark.parametrize("later", [1, 2, 3])
def test_subtransactions_count_as_their_transaction(later):
    """A savepoint has a number of its own; the event has that of the transaction around it."""
    with writers(1) as (one,):
        one._session.execute("SAVEPOINT a")
        one.write("inside")
        one._session.execute("RELEASE a")
        for number in range(later):
            write(f"other-{number}")
        cut()
        one.commit()
        cut()

    assert sorted(keys_of(read_all(Cursor(2)))) == sorted(["inside", *(f"other-{n}" for n in range(later))])

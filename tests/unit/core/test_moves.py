"""To when tasks are moved: by so much, spread, to a time; and how people type a length of time."""

from datetime import UTC, datetime, timedelta

import pytest

from tasks_app.core.errors import InvalidTask
from tasks_app.core.moves import Move, read_span

NOW = datetime(2090, 1, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("by", "was", "expected"),
    [
        (2 * HOUR, HOUR, 3 * HOUR),
        (-HOUR, 3 * HOUR, 2 * HOUR),
        (-3 * HOUR, HOUR, 0 * HOUR),  # not before now
        (-HOUR, -2 * HOUR, -2 * HOUR),  # overdue: it keeps its place in the line
        (HOUR, -2 * HOUR, -HOUR),
    ],
)
def test_a_move_by_so_much_goes_from_where_each_task_is(by, was, expected):
    assert Move(by=by).time_of(NOW + was, 0, 1, NOW) == NOW + expected


def test_a_spread_is_even_and_ends_before_its_end():
    move = Move(at=NOW, over=HOUR)

    assert [move.time_of(NOW, place, 4, NOW) - NOW for place in range(4)] == [n * HOUR / 4 for n in range(4)]
    assert move.bounds(NOW, NOW, 4, NOW) == (NOW, NOW + 3 * HOUR / 4)
    assert Move(by=HOUR).bounds(NOW, NOW + HOUR, 2, NOW) == (NOW + HOUR, NOW + 2 * HOUR)


@pytest.mark.parametrize("move", [Move(at=NOW), Move(by=-HOUR), Move(at=NOW, over=HOUR)], ids=str)
def test_what_is_stored_is_read_back(move):
    assert Move.stored(move.options) == move


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "new time is missing"),
        ({"by": HOUR, "at": NOW}, "at and over"),
        ({"by": HOUR, "over": HOUR}, "at and over"),
        ({"by": timedelta(0)}, "by=0:00:00"),
        ({"by": timedelta(days=-367)}, "366 days"),
        ({"at": NOW, "over": timedelta(0)}, "over=0:00:00"),
        ({"at": NOW, "over": timedelta(days=367)}, "366 days"),
    ],
)
def test_what_makes_no_sense_is_refused(given, told):
    with pytest.raises(InvalidTask, match=told):
        Move(**given)


def test_a_length_of_time_is_read_as_people_type_it():
    typed = {"+2 h": 2 * HOUR, "-15 min": -HOUR / 4, "1h30m": 1.5 * HOUR, "\u22122H": -2 * HOUR, " 90s ": HOUR / 40}

    assert {text: read_span(text) for text in typed} == typed
    for bad in ("", "+", "soon", "2", "--2h", "9" * 30 + "w"):
        with pytest.raises(InvalidTask, match="length of time"):
            read_span(bad)

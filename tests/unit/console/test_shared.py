"""What many ask for at once is made once; and never before they have asked, but for those who say how old it may be."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from tasks_app.console import shared
from tasks_app.console.shared import Shared
from tests.support.wait import wait_until


class Slow:
    """Each making gives its number, and ends when the test lets it."""

    def __init__(self) -> None:
        self.begun, self.let = 0, threading.Event()

    def __call__(self) -> int:
        self.begun += 1
        number = self.begun
        assert self.let.wait(30)
        return number


class Counted(Shared):
    """Says how many have asked."""

    asked = 0

    def _place_of(self, *args):
        place = super()._place_of(*args)
        self.asked += 1
        return place


@pytest.fixture
def people():
    with ThreadPoolExecutor(4) as threads:
        yield threads


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    monkeypatch.setattr(shared, "PATIENCE_SECONDS", 60.0)


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def ticking():
    """A clock that goes on by 10 with each look at it."""
    return count(10, 10).__next__


def test_who_has_waited_for_long_enough_makes_their_own(people, slow, ticking, monkeypatch):
    together = Shared(ticking)
    first = people.submit(together.ask, "a", slow)
    wait_until(lambda: slow.begun == 1)
    monkeypatch.setattr(shared, "PATIENCE_SECONDS", 0.01)

    assert together.ask("a", lambda: "mine").answer == "mine"
    slow.let.set()
    assert first.result(30).answer == 1


def test_those_who_come_during_a_making_share_the_next_one(people, slow, ticking):
    together = Counted(ticking)
    first = people.submit(together.ask, "a", slow)
    wait_until(lambda: slow.begun == 1)
    others = [people.submit(together.ask, "a", slow) for _ in range(3)]
    wait_until(lambda: together.asked == 4)

    slow.let.set()

    assert first.result(30).answer == 1
    assert [one.result(30).answer for one in others] == [2, 2, 2]


def test_who_says_how_old_it_may_be_gets_what_is_there_but_nothing_older(ticking, monkeypatch):
    numbers, together = count(1).__next__, Shared(ticking)
    first = together.ask("a", numbers)

    assert together.ask("a", numbers, after=first.begun) is first
    assert together.ask("b", numbers, after=first.begun).answer == 2
    assert together.ask("a", numbers, after=first.begun + 1).answer == 3
    assert together.ask("a", numbers).answer == 4
    monkeypatch.setattr(shared, "OLDEST_SECONDS", 0.0)
    assert together.ask("a", numbers, after=first.begun).answer == 5


def test_what_does_not_fit_is_made_anew_and_both_are_there(ticking):
    numbers, together = count(1).__next__, Shared(ticking)
    for fits in (1, 2):
        assert together.ask("a", numbers, after=0, fits=lambda number, wanted=fits: number == wanted).answer == fits

    assert together.ask("a", numbers, after=0, fits=lambda number: number == 1).answer == 1


def test_of_several_that_would_do_everybody_gets_the_newest(ticking):
    numbers, together = count(1).__next__, Shared(ticking)
    for _ in range(3):
        newest = together.ask("a", numbers)

    assert together.ask("a", numbers, after=0) is newest


def test_what_is_made_of_something_older_is_as_old_as_that(ticking):
    inner, outer = Shared(ticking), Shared(ticking)
    old = inner.ask("part", lambda: "old")

    whole = outer.ask("whole", lambda: inner.ask("part", lambda: "new", after=old.begun).answer)

    assert (whole.answer, whole.begun, whole.at) == ("old", old.begun, old.at)
    assert outer.ask("whole", lambda: "another", after=old.begun + 1).answer == "another"


def test_a_making_that_fails_is_told_as_that_and_the_next_is_another(ticking):
    answers = iter([OSError("no database"), 7])

    def make() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    together = Shared(ticking)
    with pytest.raises(OSError, match="no database"):
        together.ask("a", make)
    assert together.ask("a", make).answer == 7


def test_what_nobody_asks_for_any_more_goes(ticking, monkeypatch):
    together = Shared(ticking)
    together.ask("a", lambda: 1)
    monkeypatch.setattr(shared, "OLDEST_SECONDS", 0.0)

    together.ask("b", lambda: 2)

    assert set(together._places) == {"b"}

"""What many ask for at once is read once; and never before they have asked."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tasks_app.console.together import Together
from tests.support.wait import wait_until


class Counted:
    """A lock that says how often it was taken: whoever has asked has had it once, whoever reads twice."""

    def __init__(self) -> None:
        self._lock, self.taken = threading.Lock(), 0

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.taken += 1
        self._lock.release()


class Slow:
    """Each reading gives its number, and ends when the test lets it."""

    def __init__(self) -> None:
        self.begun, self.let = 0, threading.Event()

    def __call__(self) -> int:
        self.begun += 1
        number = self.begun
        assert self.let.wait(30)
        return number


@pytest.fixture
def people():
    with ThreadPoolExecutor(4) as threads:
        yield threads


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def together(slow) -> Together[int]:
    together = Together(slow)
    together._lock = Counted()
    return together


def test_those_who_come_during_a_reading_share_the_next_one(people, slow, together):
    first = people.submit(together.ask)
    wait_until(lambda: slow.begun == 1)
    others = [people.submit(together.ask) for _ in range(3)]
    wait_until(lambda: together._lock.taken == 2 + 3)

    slow.let.set()

    assert first.result(30) == 1
    assert [one.result(30) for one in others] == [2, 2, 2]


def test_who_is_in_no_hurry_reads_for_all_who_come_meanwhile(people, slow, together):
    slow.let.set()
    together._reading.acquire()  # it goes on for as long as the others take to come
    everybody = [people.submit(together.ask, 0.001) for _ in range(4)]
    wait_until(lambda: together._lock.taken == 4)

    together._reading.release()

    assert [one.result(30) for one in everybody] == [1, 1, 1, 1]


def test_a_reading_that_fails_is_told_as_that_and_the_next_is_another():
    answers = iter([OSError("no database"), 7])

    def read() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    together = Together(read)
    with pytest.raises(OSError, match="no database"):
        together.ask()
    assert together.ask() == 7

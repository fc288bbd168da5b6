"""The thread of a chore: it stays as long as it is wanted, and no longer."""

import threading
from queue import SimpleQueue

from tasks_app.engine.beat.aside import Aside
from tests.support.wait import wait_until

SECONDS = 30.0  # that nobody should need


class Work:
    """Notes in which thread it was done; may be held up."""

    def __init__(self) -> None:
        self.done: SimpleQueue[int] = SimpleQueue()
        self.go_on = threading.Event()
        self.go_on.set()

    def __call__(self) -> None:
        assert self.go_on.wait(SECONDS)
        self.done.put(threading.get_ident())


def started(work: Work, stays_seconds: float) -> Aside:
    aside = Aside("a chore", work, stays_seconds)
    aside.start()
    return aside


def ended(aside: Aside) -> bool:
    aside.join(SECONDS)
    return not aside.is_alive() and not aside.busy


def test_what_comes_again_soon_is_done_in_the_same_thread():
    work = Work()
    aside = started(work, SECONDS)
    first = work.done.get(timeout=SECONDS)
    wait_until(lambda: not aside.busy, SECONDS)

    assert aside.again()

    assert work.done.get(timeout=SECONDS) == first
    aside.end()
    assert ended(aside)


def test_one_that_is_busy_takes_nothing_on():
    work = Work()
    work.go_on.clear()
    aside = started(work, SECONDS)

    assert (aside.busy, aside.again()) == (True, False)

    work.go_on.set()
    aside.end()
    assert ended(aside)
    assert work.done.qsize() == 1


def test_one_that_nobody_wants_ends_by_itself_and_takes_nothing_on_any_more():
    work = Work()
    aside = started(work, 0.0)

    assert ended(aside)
    assert (aside.again(), work.done.qsize()) == (False, 1)


def test_one_that_is_to_end_does_first_what_it_has_begun():
    work = Work()
    work.go_on.clear()
    aside = started(work, SECONDS)
    aside.end()
    assert aside.busy

    work.go_on.set()

    assert ended(aside)
    assert work.done.qsize() == 1

"""Whether a process hangs, and on what, by its marks and the CPU time of its threads."""

from collections import Counter

from tasks_app.core.at_work import ITEM_BYTES, SLOTS, Kind, Mark, Marks, read_marks, read_pulse
from tasks_app.core.stall import UNKNOWN, Judge

LIMIT = 10.0
ONE, TWO = 101, 102  # threads


class Machine:
    """A process, seen by its observer once a second."""

    def __init__(self) -> None:
        self.cpu: Counter[int] = Counter()
        self.judge = Judge(LIMIT, self.cpu.__getitem__)
        self.pulse = 0

    def seconds(self, number: int, *marks: Mark, computes: int = 0, responds: bool = False) -> Mark | None:
        for _ in range(number):
            self.pulse += responds
            if computes:
                self.cpu[computes] += 1
                self.cpu[0] += 1
            if found := self.judge.poll(1.0, self.pulse, marks):
                return found
        return None


def mark(number: int, thread: int, *, patient: bool = False) -> Mark:
    return Mark(number, thread, thread, patient, "planner", Kind.JOB, f"item {number}")


def test_of_several_items_it_is_the_one_whose_thread_computes_while_nothing_responds():
    held, waits = mark(1, ONE, patient=True), mark(2, TWO)
    machine = Machine()

    assert machine.seconds(9, held, waits, computes=ONE) is None
    assert machine.seconds(3, held, waits, computes=ONE) == held


def test_it_is_found_whether_or_not_it_was_begun_before_the_last_sign_of_life():
    machine, before, after = Machine(), mark(1, ONE), mark(2, TWO, patient=True)

    assert machine.seconds(5, before, computes=ONE, responds=True) is None
    assert machine.seconds(13, before, after, computes=TWO) == after


def test_an_item_of_which_other_threads_get_their_turn_is_found_by_its_cpu_unless_it_may_take_long():
    endless, long = mark(1, ONE), mark(2, TWO, patient=True)

    assert Machine().seconds(12, endless, computes=ONE, responds=True) == endless
    assert Machine().seconds(99, long, computes=TWO, responds=True) is None


def test_the_innermost_mark_of_a_thread_is_the_one_it_hangs_on():
    outer, inner = mark(1, ONE, patient=True), mark(2, ONE)

    assert Machine().seconds(13, outer, inner, computes=ONE) == inner


def test_what_waits_or_was_stopped_does_not_hang_however_long():
    machine = Machine()

    assert machine.seconds(1_000, mark(1, ONE), responds=True) is None, "a statement that takes its time"
    assert machine.seconds(1_000, mark(1, ONE)) is None, "SIGSTOP, or a machine that sleeps"
    assert machine.seconds(9, mark(1, ONE), computes=ONE) is None, "it is continued, and has used little"


def test_one_item_after_the_other_is_progress():
    machine = Machine()

    assert not any(machine.seconds(5, mark(n, ONE), computes=ONE, responds=True) for n in range(1, 20))


def test_a_thread_without_a_mark_is_named_as_unknown():
    assert Machine().seconds(13, mark(1, ONE), computes=TWO) == UNKNOWN


def test_marks_are_read_as_they_were_set_and_gone_when_the_work_is_done():
    marks = Marks()
    with marks.on(Kind.JOB, "before they are shared", "planner"):
        memory = marks.share()
    marks.pulse()
    with (
        marks.on(Kind.TENANT, "东方" * ITEM_BYTES, "tenants", patient=True),
        marks.on(Kind.SUBSCRIPTION, 17, "relay"),
    ):
        outer, inner = sorted(read_marks(memory))

    assert read_pulse(memory) == 1
    assert (outer.kind, outer.place, outer.patient) == ("tenant", "tenants", True)
    assert "东方" * 70 in outer.item
    assert (inner.kind, inner.item, inner.place, inner.patient) == ("subscription", "17", "relay", False)
    assert inner.thread == outer.thread and inner.number > outer.number
    assert read_marks(memory) == []


def test_work_beyond_the_slots_is_done_without_a_mark():
    marks = Marks()
    memory = marks.share()
    begun = [marks.on(Kind.TENANT, n, "tenants") for n in range(SLOTS + 1)]
    for one in begun:
        one.__enter__()
    assert len(read_marks(memory)) == SLOTS
    for one in begun:
        one.__exit__()
    assert read_marks(memory) == []

"""How many processes are wanted, and the scaler that starts and stops them: within bounds, one by one, not hastily."""

from tasks_app.lifecycle.safeguards.wanted import Wanted, wanted
from tasks_app.management.scaling import BEAT, WORKER, Bounds, Scaler


class Machine:
    """Has the processes that it was told to start."""

    def __init__(self) -> None:
        self.there: dict[str, list[int]] = {BEAT: [], WORKER: []}

    def start(self, kind: str, number: int) -> None:
        self.there[kind].append(number)

    def stop(self, kind: str, number: int) -> None:
        self.there[kind].remove(number)

    def running(self, kind: str) -> list[int]:
        return sorted(self.there[kind])


class Scaled:
    """A scaler on a machine, and what its looks did; each slot that is started is live at once."""

    def __init__(self, *, most: int = 3, others: int = 2) -> None:
        self.machine, self.others, self.needed, self.beats = Machine(), others, others, 1
        bounds = {WORKER: Bounds(0, most), BEAT: Bounds(0, 1)}
        self.scaler = Scaler(self.machine, bounds, slots=2, calm_seconds=300.0, read=self._read)

    def _read(self) -> Wanted:
        live = self.others + 2 * len(self.machine.there[WORKER])
        return Wanted(self.beats, self.needed, 1 + len(self.machine.there[BEAT]), live, 0.0, False)

    def look(self, at: float) -> list[str]:
        return self.scaler.run_once(at)


def test_busy_slots_want_more_and_idle_ones_fewer_and_those_between_stay():
    assert [wanted(10, 1, busy, False).slots for busy in (9.0, 7.0, 5.0, 4.0, 3.9, 0.0)] == [13, 10, 10, 10, 6, 1]


def test_tasks_that_start_late_want_half_as_many_again():
    assert [wanted(slots, 1, float(slots), True).slots for slots in (1, 4, 10)] == [2, 6, 15]


def test_another_beat_is_wanted_if_tasks_are_late_though_slots_are_idle():
    assert (wanted(10, 2, 1.0, True).dispatchers, wanted(10, 2, 9.0, True).dispatchers) == (3, 2)
    assert (wanted(10, 2, 1.0, False).dispatchers, wanted(0, 0, 0.0, True).dispatchers) == (1, 1)


def test_one_is_started_at_a_time_and_no_more_than_may_be():
    one = Scaled(most=2)
    one.needed = 20

    told = [one.look(at) for at in (0, 5, 15, 20, 40, 60)]

    assert told == [["started worker 1"], [], ["started worker 2"], [], [], []]


def test_one_too_many_is_stopped_after_a_while_and_the_others_are_left_alone():
    one = Scaled()
    one.needed = 6
    one.look(0), one.look(20)
    one.needed = 0

    told = [one.look(at) for at in (100, 399, 400, 600, 700, 2000)]

    assert told == [[], [], ["stopped worker 2"], [], ["stopped worker 1"], []]


def test_what_is_wanted_for_a_moment_stops_nothing():
    one = Scaled()
    one.needed = 4
    one.look(0)

    for at, needed in ((100, 0), (350, 4), (360, 0), (650, 4)):
        one.needed = needed
        assert one.look(at) == []


def test_beats_are_started_and_stopped_likewise():
    one = Scaled()
    one.beats = 2
    assert one.look(0) == ["started beat 1"]
    one.beats = 1
    one.look(10)

    assert one.look(310) == ["stopped beat 1"]


def test_one_that_died_is_started_again():
    one = Scaled()
    one.needed = 4
    one.look(0)
    one.machine.there[WORKER].clear()

    assert one.look(20) == ["started worker 1"]

"""What counts as the time until tasks were finishing again."""

from chaos.recovery import Recovery, recoveries
from chaos.scenarios import Fault

KILL = Fault(0, "kill", "worker-1")


def rto(finishes, *faults) -> list[float | None]:
    begun = [(fault, fault.at) for fault in faults]
    return [one.rto for one in recoveries(begun, finishes, [])]


def steady(first: float, last: float) -> list[float]:
    return [first + n / 10 for n in range(int((last - first) * 10) + 1)]


def test_without_a_pause_the_service_was_never_away():
    assert rto(steady(0, 20), Fault(5, "kill", "worker-1")) == [0]


def test_a_pause_counts_from_the_fault_to_its_end():
    assert rto(steady(0, 5) + steady(8, 20), Fault(5, "kill", "worker-1")) == [3]


def test_a_pause_that_begins_a_little_after_the_fault_counts_too():
    assert rto(steady(0, 6) + steady(9, 20), Fault(5, "flush_broker", "broker")) == [4]


def test_a_pause_after_the_next_fault_belongs_to_the_next():
    faults = (Fault(5, "kill", "worker-1"), Fault(8, "kill", "worker-2"))

    assert rto(steady(0, 9) + steady(11, 20), *faults) == [0, 3]


def test_a_pause_that_the_next_fault_made_is_not_counted_for_this_one():
    faults = (Fault(5, "kill", "worker-1"), Fault(8, "kill", "worker-2"))

    assert rto(steady(0, 7.9) + steady(11, 20), *faults) == [0, 3]


def test_a_pause_under_way_counts_for_both_faults():
    faults = (Fault(5, "kill", "worker-1"), Fault(8, "kill", "worker-2"))

    assert rto(steady(0, 5) + steady(10, 20), *faults) == [5, 2]


def test_a_service_that_never_comes_back_is_said_to_be_so():
    assert rto(steady(0, 5), Fault(5.1, "kill", "worker-1")) == [None]
    assert not Recovery(KILL, None, None).in_time


def test_the_victims_wait_until_the_last_task_claimed_at_the_fault_had_finished():
    batches = [(1, 2, 2), (4, 9, 12), (4.5, 6, 6), (5.5, 7, 30)]

    (found,) = recoveries([(Fault(5, "kill", "worker-1"), 5)], steady(0, 20), batches)

    assert found.in_flight == 7


def test_a_fault_may_cost_its_own_duration_and_two_run_leases():
    assert Recovery(Fault(0, "stall_broker", "broker", 45), 52.9, 0).in_time
    assert not Recovery(Fault(0, "stall_broker", "broker", 45), 53.1, 0).in_time
    assert not Recovery(KILL, 8.1, 0).in_time


def test_on_time_again_is_when_everything_that_is_due_begins_on_time_for_three_seconds():
    lost = Fault(5, "lose_primary", "database", 2)
    on_time, late = [(due, due) for due in steady(0, 5)], [(due, due + 3) for due in steady(5, 9)]

    (found,) = recoveries([(lost, 5)], steady(0, 30), [], on_time + late + [(due, due) for due in steady(9.1, 30)])
    assert (found.punctual, found.kept_up, found.on_time) == (4, True, True)
    afterwards = [*on_time, *late, *((due, due) for due in steady(9.1, 30)), (12.5, 14), (20, 22)]
    (found,) = recoveries([(lost, 5)], steady(0, 30), [], afterwards)
    assert (found.punctual, found.late_afterwards, found.on_time) == (4, 2, True)
    (found,) = recoveries([(lost, 5)], steady(0, 30), [], [*afterwards, (11.5, 13)])
    assert (found.punctual, found.late_afterwards) == (7.5, 1)
    (never,) = recoveries([(lost, 5)], steady(0, 30), [], on_time + late)
    assert (never.punctual, never.on_time) == (None, False)
    slowly = [(due, due + 3) for due in steady(5, 23)]
    (slow,) = recoveries([(lost, 5)], steady(0, 40), [], on_time + slowly + [(due, due) for due in steady(23.1, 40)])
    assert (slow.punctual, slow.on_time) == (18, False)
    (silent,) = recoveries([(lost, 5)], steady(0, 40), [], on_time + [(due, due + 3) for due in steady(9, 40)])
    assert (silent.punctual, silent.on_time) == (None, False)  # nothing was due for a while, and then all was late
    long, held = Fault(5, "lose_primary", "database", 10), [(due, due + 3) for due in steady(9.1, 16)]
    (found,) = recoveries([(long, 5)], [], [], [(due, due) for due in (*steady(0, 9), *steady(16.1, 200))] + held)
    assert (found.punctual, found.late_afterwards) == (11, 0)  # it was not over while what had been claimed was on time
    briefly = [(due, due) for due in (*steady(9.1, 13), *steady(40.1, 44))]
    (found,) = recoveries([(lost, 5)], [], [], on_time + late + briefly + [(due, due + 3) for due in steady(13.1, 40)])
    assert (found.punctual, found.on_time) == (35, False)
    again, behind = [*on_time, (3, 24.5)], [(due, due + 20) for due in steady(2, 4)]
    (victim,) = recoveries([(lost, 5)], steady(0, 30), [], again + late)
    assert (victim.kept_up, victim.on_time) == (True, False)
    (before,) = recoveries([(lost, 5)], steady(0, 30), [], behind + late)
    assert (before.kept_up, before.on_time) == (False, True)

"""The judge of a drill, handed what it must find: late, lost, doubled, gone; and nothing where nothing is."""

import math
from dataclasses import replace

from tasks_app.drills.judging import (
    CALM_SECONDS,
    Asked,
    Done,
    Evidence,
    Figures,
    Limits,
    back_at,
    is_back,
    judge,
    runs_that_count,
)

MARK = 100.0
LIMITS = Limits(rto=10)


def asked(*, until: float = 130.0, lane: str = "default") -> dict[str, Asked]:
    """One task every second."""
    return {f"{lane}-{n}": Asked(lane, 90.0 + n, 80.0) for n in range(int(until - 90))}


def well(tasks: dict[str, Asked], **late: float) -> Evidence:
    """All ran on time, but for those that were `late` by so many seconds."""
    done = [Done(key, one.due + late.get(key.replace("-", "_"), 0.1), one.due + 0.2) for key, one in tasks.items()]
    return Evidence(
        mark=MARK,
        ended=130.0,
        asked=tasks,
        done=done,
        statuses=dict.fromkeys(tasks, "SUCCESS"),
        effects=dict.fromkeys(tasks, 1),
        calls=dict.fromkeys(tasks, 1),
    )


def figures(evidence: Evidence, limits: Limits = LIMITS) -> Figures:
    return judge(evidence, limits)


def test_where_all_is_on_time_nothing_was_away():
    found = figures(well(asked()))

    assert (found.rto_s, found.rto_by_lane, found.met) == (0.0, {"default": 0.0}, True)
    assert (found.lost, found.duplicates, found.events_lost, found.repeats, found.late_afterwards) == (0, 0, 0, 0, 0)


def test_it_was_away_until_the_last_of_what_was_overdue_had_begun():
    found = figures(well(asked(), default_11=6.0, default_12=7.5, default_13=2.0))

    assert (found.rto_s, found.met) == (9.5, True)  # due at 102, and begun at 109.5


def test_what_was_due_before_the_damage_and_was_hit_by_it_counts_too():
    assert figures(well(asked(), default_9=8.0)).rto_s == 7.0


def test_the_slowest_lane_counts_and_a_missed_limit_names_it():
    tasks = asked() | asked(lane="low")
    found = figures(well(tasks, default_11=3.0, low_12=9.0))

    assert (found.rto_by_lane, found.rto_s) == ({"default": 4.0, "low": 11.0}, 11.0)
    assert found.missed == ["lane low was back after 11 s, and the limit is 10 s"]


def test_of_a_lane_that_was_behind_all_the_while_it_is_told_how_much_came_due_and_how_much_began():
    tasks = asked() | asked(lane="low")
    found = figures(well(tasks, **{f"low_{n}": 5.0 for n in range(10, 22)}))

    [sentence] = found.missed
    assert sentence.startswith("lane low was back after 16 s, and the limit is 10 s; 12 of its 17 tasks were late")
    assert sentence.endswith("In a second 1.06 of them came due and 1 began, of all lanes 2.12 and 2")


def test_a_task_that_is_late_long_after_it_was_back_is_told_and_not_counted():
    found = figures(well(asked(), default_11=3.0, default_25=2.0))

    assert (found.rto_s, found.late_afterwards) == (4.0, 1)


def test_back_is_only_what_stays_so_for_a_while():
    soon, later = (104.0 + CALM_SECONDS - 0.1, 110.0), (104.0 + CALM_SECONDS + 0.1, 110.0)

    assert back_at(MARK, [(101.0, 104.0), soon]) == (110.0, 0)
    assert back_at(MARK, [(101.0, 104.0), later]) == (104.0, 1)


def test_while_it_goes_on_it_is_back_only_when_that_can_be_known():
    tasks = asked()
    done = well(tasks, default_11=3.0).done

    assert [is_back(MARK, tasks, done, now) for now in (103.0, 107.9, 108.1)] == [False, False, True]
    assert not is_back(MARK, tasks, [one for one in done if one.key != "default-11"], 129.0)


def test_a_task_that_never_ran_is_lost_and_its_lane_never_came_back():
    one = well(asked())
    found = figures(
        replace(
            one,
            done=[done for done in one.done if done.key != "default-12"],
            statuses=one.statuses | {"default-12": "RUNNING"},
            effects={key: 1 for key in one.effects if key != "default-12"},
        )
    )

    assert (found.rto_s, found.lost, found.met) == (None, 1, False)
    assert found.missed == ["lane default never came back", "1 tasks or effects that were committed are lost"]


def test_a_committed_task_without_a_row_is_lost_and_so_is_an_effect_that_a_worker_knew_of():
    later = {"later": Asked("default", 500.0)}  # not due before the end, so it only has to be there
    one = well(asked())

    assert figures(replace(one, asked={**one.asked, **later})).lost == 1
    there = replace(one, asked={**one.asked, **later}, statuses={**one.statuses, "later": "INIT"})
    assert figures(there).lost == 0
    assert figures(replace(one, effects={**one.effects, "default-3": 0})).lost == 2  # by its row, and by its line
    assert figures(replace(one, rest_lost=7)).lost == 7


def test_an_effect_is_doubled_by_its_rows_or_by_its_lines():
    one = well(asked())

    assert figures(replace(one, effects={**one.effects, "default-3": 3})).duplicates == 2
    twice = [*one.done, Done("default-4", 105.0, 105.1)]
    assert figures(replace(one, done=twice)).duplicates == 1
    assert figures(replace(one, calls={**one.calls, "default-4": 2})).met  # its first call was rolled back


def test_a_run_whose_worker_died_before_it_could_write_a_line_is_neither_lost_nor_late():
    one = well(asked())
    found = figures(replace(one, done=[done for done in one.done if done.key != "default-12"]))

    assert (found.lost, found.rto_s) == (0, 0.0)


def test_an_event_that_was_kept_and_not_told_is_lost_and_so_is_one_that_was_told_and_not_kept():
    due, told, kept = {"1-1", "2-1"}, {"2-1", "3-1", "4-1"}, {"1-1", "2-1", "4-1", "5-1"}
    events = {"events_due": frozenset(due), "events_told": frozenset(told), "events_kept": frozenset(kept)}
    one = replace(well(asked()), **events)

    assert (figures(one).events_lost, figures(one).events_gone) == (2, 1)
    assert figures(one, Limits(rto=10, rpo=1.0)).events_lost == 1  # what a restore has lost is counted by its RPO


def test_what_a_restore_lacks_is_measured_in_seconds_and_what_is_listed_may_run_again():
    one = well(asked())
    limits = Limits(rto=10, rpo=1.0)
    restored = replace(
        one,
        asked={**one.asked, "gone": Asked("default", 105.0, 99.5)},
        done=[*one.done, Done("default-9", 103.0, 103.1)],
        gone=frozenset({"gone"}),
        undone=frozenset({"default-9"}),
        rpo=0.5,
    )
    found = figures(restored, limits)

    assert (found.lost, found.duplicates, found.listed, found.rpo_s, found.missed) == (1, 0, 1, 0.5, [])
    assert figures(replace(restored, rpo=1.2), limits).missed == [
        "what was committed 1.2 s before is lost, and the limit is 1 s"
    ]
    assert figures(replace(restored, undone=frozenset()), limits).duplicates == 1


def test_what_was_running_has_a_limit_of_its_own_or_counts_with_the_rest():
    one = replace(well(asked(), default_9=33.0), in_flight=frozenset({"default-9"}))

    apart = figures(one)
    assert (apart.rto_s, apart.in_flight_s, apart.met) == (0.0, 32.0, True)
    assert figures(one, Limits(rto=10, in_flight=30)).missed == [
        "what was running began again after 32 s, and the limit is 30 s"
    ]
    together = figures(one, Limits(rto=45, in_flight=None))
    assert (together.rto_s, together.in_flight_s, together.met) == (32.0, 0.0, True)
    others = [key for key in one.effects if key != "default-9"]
    never = replace(one, done=[done for done in one.done if done.key in others], effects=dict.fromkeys(others, 1))
    assert "what was running never ran again" in figures(never).missed


def test_a_broken_rule_and_an_empty_drill_are_missed_limits():
    assert figures(replace(well(asked()), broken_rules=2)).missed == ["2 rows break a rule of `manage.py doctor`"]
    assert figures(well({})).missed == ["no task was asked for, so nothing can be said"]


def test_a_wait_without_an_end_is_for_ever():
    assert back_at(MARK, [(101.0, math.inf)]) == (math.inf, 0)


def test_where_nothing_may_be_lost_it_does_not_count_how_shortly_before_it_was_committed():
    one, none_lost, a_second = well(asked()), Limits(rto=10), Limits(rto=10, rpo=1.0)
    gone = replace(
        one,
        statuses={key: status for key, status in one.statuses.items() if key != "default-3"},
        effects={key: 1 for key in one.effects if key != "default-3"},
        done=[done for done in one.done if done.key != "default-3"],
        gone=frozenset({"default-3"}),
        rpo=0.004,
    )

    assert (figures(gone, none_lost).rpo_s, figures(gone, none_lost).lost) == (0.0, 1)
    words = "nothing that was committed may be lost: 1 tasks are gone, 0 ran and ran again"
    assert figures(gone, none_lost).missed == [words]
    assert not figures(replace(one, undone=frozenset({"default-3"})), none_lost).met
    assert figures(gone, a_second).met


def test_a_run_that_a_restore_has_taken_back_does_not_count_and_the_one_after_it_does():
    before, other, again = Done("a", 1.0, 2.0), Done("b", 1.0, 2.0), Done("a", 9.0, 10.0)

    assert runs_that_count([before, other, again], {"a": before}) == [other, again]

"""Which minutes count as available, and what is left of the budget."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tasks_app.core.service_levels import (
    MINUTE,
    Goals,
    Judged,
    LaneFacts,
    Outage,
    ServiceLevels,
    State,
    Totals,
    judge,
    outages_of,
)

AT = datetime(2027, 3, 1, 8, tzinfo=UTC)
LONG_AGO = AT - timedelta(days=9)
ANSWER = timedelta(seconds=2)
LIVE = LaneFacts("default", live=True, known=True, canary_since=LONG_AGO)
DEAD = replace(LIVE, live=False)
GONE = replace(DEAD, known=False, canary_since=None)
SERVED = Judged(AT - MINUTE, served=frozenset({"default"}))
EVERY_TEN = range(-8, 200, 10)


def back(*seconds: float, lane: str = "default") -> dict[str, list[datetime]]:
    return {lane: [AT + timedelta(seconds=one) for one in seconds]}


def judged(*lanes: LaneFacts, returns=None, before: Judged = SERVED, minutes: int = 1) -> list[Judged]:
    given = back(*EVERY_TEN) if returns is None else returns
    these = [AT + n * MINUTE for n in range(minutes)]
    return judge(before, these, lanes or (LIVE,), given, ANSWER, latest=these[-1])


def states(*lanes: LaneFacts, **given) -> list[State]:
    return [one.state for one in judged(*lanes, **given)]


def test_a_minute_is_up_if_every_canary_came_back_in_time():
    assert states() == [State.UP]


@pytest.mark.parametrize(
    "returns",
    [
        back(),
        back(-8, 2, 12, 22),  # and then never again
        back(-8, 2, 12, 24.5, 34, 44, 54),  # one came half a second too late
        back(-11, 2, 12, 22, 32, 42, 52),  # so did the first, counted from the last one of the minute before
    ],
)
def test_a_canary_that_comes_too_late_or_not_at_all_takes_the_minute_down(returns):
    assert states(returns=returns) == [State.DOWN]


def test_a_delay_just_within_the_answer_is_allowed():
    assert states(returns=back(-8, 3.9, 15.8, 27.7, 39.6, 51.5)) == [State.UP]


def test_one_lane_is_enough_to_take_the_minute_down():
    found = judged(
        LIVE,
        replace(LIVE, lane="low"),
        returns=back(*EVERY_TEN) | back(lane="low"),
        before=Judged(AT - MINUTE, served=frozenset({"default", "low"})),
    )
    assert [(one.state, one.down) for one in found] == [(State.DOWN, {"low"})]


def test_canaries_that_fly_less_often_are_judged_by_their_own_interval():
    rare = replace(LIVE, every=timedelta(minutes=5))
    assert states(rare, returns=back(-200, 100), minutes=2) == [State.UP, State.UP]
    assert states(rare, returns=back(-290), minutes=2) == [State.DOWN, State.DOWN]


# ---- what is served ----


def test_without_a_worker_ever_nothing_is_promised():
    assert states(GONE, returns={}, before=Judged(AT - MINUTE)) == [State.IDLE]


def test_a_lane_is_served_from_the_first_whole_minute_of_its_canary():
    nobody = Judged(AT - MINUTE)
    assert states(replace(LIVE, canary_since=AT + timedelta(seconds=1)), before=nobody, returns=back(40)) == [
        State.IDLE
    ]
    assert states(replace(LIVE, canary_since=AT), before=nobody, returns=back(5, 15, 25, 35, 45, 55)) == [State.UP]


def test_a_paused_lane_is_not_served():
    assert states(replace(LIVE, paused_at=AT + timedelta(seconds=59)), returns=back(-8, 2)) == [State.IDLE]


def test_a_lane_that_was_resumed_counts_from_the_next_minute_on():
    paused = Judged(AT - MINUTE, paused=frozenset({"default"}))
    resumed = replace(LIVE, resumed_at=AT + timedelta(seconds=50))
    returns = back(*range(71, 180, 10))
    assert states(resumed, before=paused, returns=returns, minutes=3) == [State.IDLE, State.UP, State.UP]


def test_a_pause_that_began_and_ended_unseen_spares_the_minute_it_ended_in():
    resumed = replace(LIVE, resumed_at=AT + timedelta(seconds=50))
    assert states(resumed, returns=back(-8, 51)) == [State.IDLE]


def test_a_lane_that_was_let_go_unseen_counts_from_the_next_minute_on():
    """As by a safeguard, which leaves no word of when it did."""
    held = Judged(AT - MINUTE, paused=frozenset({"default"}))
    first, second = (AT, AT + MINUTE)
    (let_go,) = judge(held, [first], [LIVE], back(*range(40, 180, 10)), ANSWER, latest=first)
    (later,) = judge(let_go, [second], [LIVE], back(*range(40, 180, 10)), ANSWER, latest=second)
    assert (let_go.state, later.state) == (State.IDLE, State.UP)


def test_a_worker_that_dies_takes_the_minutes_down_until_one_is_back():
    assert states(DEAD, returns=back(-8, 2)) == [State.DOWN]


def test_a_lane_stays_lost_when_its_dead_worker_is_forgotten():
    """After an hour the node is, and its canary is cancelled."""
    other = replace(LIVE, lane="low")
    lost = judged(DEAD, other, returns=back(*EVERY_TEN, lane="low"))[0]
    assert lost.lost == {"default"}

    later = judge(lost, [AT + MINUTE], [GONE, other], back(*EVERY_TEN, lane="low"), ANSWER, latest=AT + MINUTE)
    assert [(one.state, one.down) for one in later] == [(State.DOWN, {"default"})]


def test_a_worker_that_says_goodbye_takes_its_lane_along_while_others_work():
    other = replace(LIVE, lane="low")
    found = judged(GONE, other, returns=back(-8, 2) | back(*EVERY_TEN, lane="low"))
    assert [(one.state, one.served) for one in found] == [(State.UP, {"low"})]


def test_if_the_last_worker_of_all_says_goodbye_its_lanes_are_down():
    assert states(GONE, returns=back(-8, 2)) == [State.DOWN]
    gone = Judged(AT - MINUTE, served=frozenset({"default"}), down=frozenset({"default"}))
    assert states(GONE, returns={}, before=gone, minutes=3) == [State.DOWN] * 3


def test_a_time_without_beats_is_down_and_one_in_which_all_was_paused_is_not():
    assert states(returns=back(-8, *range(605, 720, 10)), minutes=12) == [State.DOWN] * 11 + [State.UP]
    stopped = replace(LIVE, paused_at=AT + timedelta(seconds=90))
    assert states(stopped, returns=back(*range(-8, 90, 10)), minutes=12) == [State.UP] + [State.IDLE] * 11


def test_without_canaries_nothing_is_promised():
    these = [AT, AT + MINUTE]
    paused = Judged(AT - MINUTE, served=frozenset({"default"}), paused=frozenset({"low"}))
    assert [one.state for one in judge(paused, these, [], {}, ANSWER, latest=these[-1])] == [State.IDLE] * 2


def test_a_time_in_which_only_nobody_judged_is_up():
    assert states(minutes=3) == [State.UP] * 3


# ---- sums ----


def test_a_window_is_the_difference_of_two_sums():
    early = Totals().plus(State.UP, 10, 1, [5, 6]).plus(State.IDLE)
    late = early.plus(State.DOWN, 2, 3, [0, 1, 4]).plus(State.UP)
    assert late == Totals(2, 1, 12, 4, (5, 7, 4))
    assert late.since(early) == Totals(1, 1, 2, 3, (0, 1, 4))


def test_minutes_in_a_row_are_one_outage():
    down = [(AT + n * MINUTE, lanes) for n, lanes in ((7, ["low"]), (3, ["low"]), (2, ["default"]))]
    assert outages_of(down) == [Outage(AT + 7 * MINUTE, 1, ("low",)), Outage(AT + 2 * MINUTE, 2, ("default", "low"))]


def levels(totals: Totals, unwatched: int = 0) -> ServiceLevels:
    return ServiceLevels(30, Goals(0.999, 2_000.0, 0.995), AT, AT + MINUTE, totals, unwatched)


@pytest.mark.parametrize("down", [0, 43, 44])
def test_the_budget_is_that_of_the_whole_window(down):
    found = levels(Totals(up=100, down=down))
    assert (round(found.budget, 6), round(found.budget_left, 6)) == (43.2, round(43.2 - down, 6))
    assert found.availability == 100 / (100 + down)


@pytest.mark.parametrize(
    ("up", "down", "kept"),
    [
        (4, 3, None),  # a single one of 7 is more than the goal allows
        (999, 0, None),
        (999, 1, True),
        (1_000, 0, True),
        (998, 2, False),
        (43_000, 43, True),
        (40_000, 43, False),
        (100, 44, False),  # its budget is spent
    ],
)
def test_availability_is_kept_if_it_reaches_its_goal_and_not_judged_of_too_little(up, down, kept):
    assert levels(Totals(up=up, down=down)).available is kept


def test_a_window_that_is_shorter_than_what_its_goal_needs_is_judged_when_all_of_it_was_measured():
    found = ServiceLevels(1, Goals(0.9999, 2_000.0, 0.995), AT, AT + MINUTE, Totals(up=1_440))
    assert (found.minutes_needed, found.available) == (1_440, True)


@pytest.mark.parametrize(("runs", "kept"), [(199, None), (200, True)])
def test_success_is_not_judged_of_too_few_runs(runs, kept):
    found = levels(Totals(ok=runs - 1, failed=1))
    assert (found.successful, found.missed) == (kept, [])


@pytest.mark.parametrize(("runs", "kept"), [(19, None), (20, False)])
def test_the_delay_is_not_judged_of_too_few_runs(runs, kept):
    late = [0] * 59 + [runs]
    assert levels(Totals(lateness=tuple(late))).punctual is kept


def test_what_nobody_watched_counts_as_down():
    found = levels(Totals(up=10), unwatched=50)
    assert (found.down, found.available, found.missed) == (50, False, ["availability"])


def test_where_nothing_happened_there_is_nothing_to_judge():
    found = levels(Totals())
    assert (found.availability, found.p95_ms, found.success, found.missed) == (None, None, None, [])


def test_success_and_delay_have_goals_of_their_own():
    late = [0] * 60
    late[10], late[59] = 94, 6
    found = levels(Totals(ok=994, failed=6, lateness=tuple(late)))
    assert (found.success, found.successful) == (0.994, False)
    assert found.p95_ms > 2_000 and found.missed == ["trigger delay", "success rate"]

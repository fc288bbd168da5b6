"""The oracle can fail: each kind of harm, handed to it alone, is seen and counted."""

from collections import Counter
from dataclasses import replace

import pytest

from chaos.oracle import ACCEPTED, REFUSED, UNKNOWN, Asked, Evidence, given_twice, judge

ROW, LINE = Asked(ACCEPTED, transactional=True), Asked(ACCEPTED, transactional=False)
GOOD = Evidence(
    asked={"row": ROW, "line": LINE},
    statuses={"row": ["SUCCESS"], "line": ["SUCCESS"]},
    rows=Counter(["row"]),
    lines=Counter(["line"]),
    unsettled_runs=Counter(),
    in_flight=0,
    lost_batches=0,
    batches_at_stake=0,
    failures=Counter(RETRYABLE=1),
)
POISON = Asked(ACCEPTED, transactional=True, expected="DEAD")
LEAVES = Asked(ACCEPTED, transactional=True, leaves=True)
BRIEF = Asked(ACCEPTED, transactional=True, brief=True)
TWICE, LINE_TWICE = Asked(ACCEPTED, transactional=True, times=2), Asked(ACCEPTED, transactional=False, times=2)


def with_key(key: str, asked: Asked, *statuses: str, rows: int = 0, lines: int = 0, **changes) -> Evidence:
    """The good evidence and one more key."""
    return replace(
        GOOD,
        asked=GOOD.asked | {key: asked},
        statuses=GOOD.statuses | ({key: list(statuses)} if statuses else {}),
        rows=GOOD.rows + Counter({key: rows}),
        lines=GOOD.lines + Counter({key: lines}),
        **changes,
    )


def test_a_run_in_which_everything_happened_once_passes():
    verdict = judge(GOOD)

    assert verdict.passed, verdict.faults_found
    assert (verdict.accepted, verdict.finished) == (2, 2)


@pytest.mark.parametrize(
    "evidence, counted",
    [
        (with_key("x", ROW), {"lost": 1}),
        (with_key("x", ROW, "SUCCESS"), {"lost": 1, "finished": 3}),
        (with_key("x", LINE, "SUCCESS"), {"lost": 1}),
        (with_key("x", ROW, "SUCCESS", rows=3), {"doubled_transactional": 2}),
        (with_key("x", ROW, "RUNNING"), {"stuck": 1, "finished": 2}),
        (with_key("x", ROW, "INIT"), {"stuck": 1}),
        (with_key("x", LEAVES, "INIT", rows=1), {"doubled_transactional": 1}),
        (with_key("x", LEAVES), {"lost": 1}),
        (with_key("x", LINE, "FAIL"), {"stuck": 1}),
        (with_key("x", ROW, "DEAD"), {"dead_by_fault": 1}),
        (with_key("x", ROW, "CANCELLED"), {"unexpected": 1}),
        (with_key("x", POISON, "SUCCESS", rows=1), {"unexpected": 1}),
        (with_key("x", POISON, "DEAD", rows=1), {"unexpected": 1}),
        (with_key("x", ROW, "SUCCESS", "SUCCESS", rows=2), {"unexpected": 1, "doubled_transactional": 1}),
        (with_key("x", ROW, "SUCCESS", rows=1, lines=1), {"unexpected": 1}),
        (with_key("x", Asked(REFUSED, True), "SUCCESS", rows=1), {"unexpected": 1}),
        (with_key("x", Asked(UNKNOWN, True), "SUCCESS", rows=2), {"doubled_transactional": 1}),
        (with_key("x", Asked(UNKNOWN, True), "RUNNING"), {"stuck": 1}),
        (with_key("x", BRIEF), {"lost": 1}),
        (with_key("x", BRIEF, rows=2), {"doubled_transactional": 1}),
        (with_key("x", TWICE, "SUCCESS", rows=1), {"lost": 1}),
        (with_key("x", TWICE, "SUCCESS", "SUCCESS", rows=1), {"lost": 1}),
        (with_key("x", TWICE, "SUCCESS", "SUCCESS", rows=3), {"doubled_transactional": 1}),
        (with_key("x", LINE_TWICE, "SUCCESS", "SUCCESS", lines=1), {"lost": 1}),
        (with_key("x", LINE_TWICE, "SUCCESS", "SUCCESS", lines=3), {"doubled_ordinary": 1}),
        (with_key("x", TWICE, "CANCELLED", "SUCCESS", rows=2), {"unexpected": 1}),
        (with_key("x", TWICE, "SUCCESS", "SUCCESS", "SUCCESS", rows=3), {"unexpected": 1}),
        (replace(GOOD, statuses=GOOD.statuses | {"phantom": ["SUCCESS"]}), {"unexpected": 1}),
        (replace(GOOD, rows=GOOD.rows + Counter(["phantom"])), {"unexpected": 1}),
        (replace(GOOD, lines=GOOD.lines + Counter(["phantom"])), {"unexpected": 1}),
    ],
)
def test_harm_to_one_task_is_seen(evidence, counted):
    verdict = judge(evidence)

    assert not verdict.passed
    assert {name: getattr(verdict, name) for name in counted} == counted


@pytest.mark.parametrize(
    "evidence",
    [
        with_key("x", Asked(UNKNOWN, True)),
        with_key("x", Asked(UNKNOWN, True), "SUCCESS", rows=1),
        with_key("x", Asked(REFUSED, True)),
        with_key("x", POISON, "DEAD"),
        with_key("x", LEAVES, "INIT"),
        with_key("x", BRIEF, "SUCCESS", rows=1),
        with_key("x", BRIEF, rows=1),
        with_key("x", TWICE, "SUCCESS", "SUCCESS", rows=2),
        with_key("x", replace(ROW, times_unknown=1), "SUCCESS", rows=1),
        with_key("x", replace(ROW, times_unknown=1), "SUCCESS", "SUCCESS", rows=2),
    ],
)
def test_what_may_be_or_not_be_is_no_harm(evidence):
    assert judge(evidence).faults_found == []


def test_a_doubled_ordinary_effect_is_counted_and_must_be_explained_by_a_run_that_was_not_settled():
    doubled = with_key("x", LINE, "SUCCESS", lines=2)

    explained = judge(replace(doubled, unsettled_runs=Counter(["x"]), in_flight=1))
    unexplained = judge(doubled)

    assert (explained.passed, explained.doubled_ordinary, explained.doubled_ordinary_bound) == (True, 1, 1)
    assert (unexplained.passed, unexplained.doubled_ordinary) == (False, 1)


@pytest.mark.parametrize(
    "evidence",
    [with_key("x", Asked(UNKNOWN, False), lines=1), with_key("x", LINE, "SUCCESS", lines=2, in_flight=1)],
    ids=["gone", "done again"],
)
def test_what_a_failover_has_taken_back_from_somebody_who_saw_it_must_be_reported(evidence):
    assert [one.partition(":")[0] for one in judge(evidence).faults_found] == ["unexplained"]
    assert judge(replace(evidence, reported=Counter(["x"]))).passed


def test_more_doubled_effects_than_tasks_in_flight_are_seen_even_if_each_has_an_excuse():
    doubled = with_key("x", LINE, "SUCCESS", lines=3, unsettled_runs=Counter(x=2))

    assert judge(replace(doubled, in_flight=2)).passed
    assert not judge(replace(doubled, in_flight=1)).passed


@pytest.mark.parametrize(
    "harm",
    [
        {"lost_batches": 1},
        {"failures": Counter(LOST=1)},
        {"failures": Counter(TIMEOUT=1)},
        {"broken_rules": ["only a current row is live: not so for 7 (RUNNING)"]},
        {"hung_processes": 1},
        {"largest_child_mb": 251},
        {"idle_workers": ["worker-1"]},
        {"longest_schedule_ms": 1001.0, "schedule_limit_ms": 1000},
        {"moves": True, "in_the_past": 0},
        {"wrong_curbs": ["a curb is left: lane low"]},
        {"wrong_drains": ["host:7 started nothing after it was taken back"]},
        {"wrong_leaving": ["3 of its tasks are still in the database"]},
        {"wrong_copies": ["effects in the copy: 7 when it was taken, and 9 at its end"]},
        {"wrong_answers": ["reschedule of x answered CREATED instead of IGNORED"]},
    ],
)
def test_harm_to_the_run_as_a_whole_is_seen(harm):
    assert not judge(replace(GOOD, **harm)).passed


def test_batches_and_failures_are_forgiven_up_to_what_was_at_stake():
    within = replace(GOOD, lost_batches=2, batches_at_stake=2, failures=Counter(LOST=2))

    assert judge(within).passed
    assert not judge(replace(within, lost_batches=3)).passed


def test_a_slow_schedule_counts_only_where_there_is_a_limit():
    assert judge(replace(GOOD, longest_schedule_ms=9000.0)).passed


CAMPAIGN = replace(GOOD, replays=Counter({7: 1}), campaign="DONE")


def test_a_campaign_that_replayed_each_task_once_passes():
    assert judge(CAMPAIGN).passed


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ({"replays": Counter({7: 2})}, "replayed task 7 2 times"),
        ({"replays": Counter({7: 1, 8: 0})}, "replayed task 8 0 times"),
        ({"campaign": "RUNNING after 1 of 2: {}"}, "the campaign is RUNNING after 1 of 2"),
        ({"campaign": ""}, "the campaign is gone"),
    ],
)
def test_a_campaign_that_went_wrong_is_seen(harm, told):
    found = judge(replace(CAMPAIGN, **harm))

    assert any(told in sentence for sentence in found.faults_found)


def test_a_number_that_two_tasks_have_had_is_found_whether_the_first_is_still_there_or_not():
    asked = [(1, "a"), (1, "a"), (2, "b"), (3, "c"), (3, "d")]

    assert list(given_twice(asked, {1: "a"})) == ["d was task 3, and so is c"]
    assert list(given_twice(asked[:3], {2: "e"})) == ["b was task 2, and so is e"]

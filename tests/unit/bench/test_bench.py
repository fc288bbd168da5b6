"""The benches can be told apart and say what they measure; running them is for a quiet machine."""

import http.client
import importlib
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from bench import feed, host, past, receivers, sustain, tail, trail
from bench.__main__ import NAMES, _meets
from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", NAMES)
def test_every_bench_says_what_it_measures_and_what_is_wanted(name):
    bench = importlib.import_module(f"bench.{name}")

    assert bench.__doc__.startswith(f"{name}: ")
    assert all(goal.keys() <= {"at_least", "at_most"} for goal in bench.GOALS.values())


def test_a_goal_is_met_from_the_right_side():
    assert _meets(10, {"at_least": 10})
    assert not _meets(9, {"at_least": 10})
    assert _meets(10, {"at_most": 10})
    assert not _meets(11, {"at_most": 10})


def test_a_bench_that_does_not_exist_is_refused_with_the_names_there_are():
    ended = subprocess.run(
        [sys.executable, "-m", "bench", "drian"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 2
    assert "drain" in ended.stderr


def test_an_option_of_another_bench_is_refused():
    ended = subprocess.run(
        [sys.executable, "-m", "bench", "floor", "--rate", "5"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 1
    assert ended.stderr.strip() == "bench floor has no option --rate"


@pytest.mark.parametrize(("rate", "seconds"), [(4_630, 60), (1, 3), (100, 10), (7, 25)])
def test_the_feeder_asks_for_every_task_once_and_before_it_is_due(rate, seconds):
    made = list(feed.calls(rate, seconds))

    assert sorted(number for call in made for number in call) == list(range(rate * seconds))
    assert {len(call) for call in made[:-1]} <= {feed.CALL}
    asked = [place * feed.CALL / rate - feed.BEFORE for place in range(len(made))]  # as main() does; task 0 is due at 0
    assert all(at < min(call) / rate for at, call in zip(asked, made, strict=True))


def test_a_call_of_the_feeder_has_times_from_all_over_its_stretch():
    first = next(feed.calls(4_630, 60))

    assert max(first) - min(first) > 0.9 * 4_630 * feed.STRETCH


def sustained(*p99: float, p95: float = 1.0) -> sustain.Sustained:
    parts = [sustain.Part(1.0, p95, one, one, 1_000, 1_000) for one in p99]
    return sustain.Sustained(parts, dropped=1, fed_late_s=0.0, a_task={})


@pytest.mark.parametrize(
    ("found", "holds"),
    [
        (sustained(900, 300, 300, 350), True),
        (sustained(900, 300, 300, 400), False),
        (sustained(900, 20, 20, 100), True),  # grown, but nothing that anybody would call late
        (sustained(900, 300, 300, 300, p95=2_001), False),
    ],
)
def test_a_rate_holds_if_its_tasks_are_in_time_and_stay_so(found, holds):
    assert found.holds is holds


def test_the_search_ends_between_a_rate_that_holds_and_one_that_does_not():
    tried = []

    def holds_at(rate: int) -> bool:
        tried.append(rate)
        return rate <= 7_000

    assert 6_600 <= sustain.search(holds_at, 10_000, holds=False) <= 7_000
    assert tried[:2] == [8_000, 6_400]
    assert 6_600 <= sustain.search(holds_at, 6_000, holds=True) <= 7_000


def test_a_disk_that_is_too_small_is_told_with_the_way_out(tmp_path):
    with pytest.raises(
        SystemExit, match=r"^1,000,000,000,000 finished tasks need about .* or take fewer with --rows\.$"
    ):
        past._refuse_without_disk(str(tmp_path), 10**12)


def step(name: str, begun: float, ended: float, *about: object) -> trail.Step:
    return trail.Step(name, begun, ended, 1, "MainThread", list(about))


# Task 7 of batch b is due at 10; it waits in the queue until then, and its start takes longest.
WAY = [
    step("claim", 9.95, 9.96, "b"),
    step("publish", 9.96, 9.97, "b"),
    step("receive", 10.01, 10.01, "b"),
    step("start", 10.02, 10.08, "b", 7),
    step("ready", 10.08, 10.09, "b"),
    step("chore count", 10.0, 10.05),
]


def test_the_way_of_a_late_task_has_no_gaps_and_names_where_its_time_went():
    due = [0.0] * 7 + [10.0]

    [late] = tail.late_ones(due, {7: 10.1}, WAY, 0.015)

    assert [(one.name, round(one.ended, 2)) for one in late.stages[:6]] == [
        ("not claimed", 9.95),
        ("claim", 9.96),
        ("publish", 9.97),
        ("in the queue", 10.01),
        ("to a child", 10.02),
        ("start", 10.08),
    ]
    assert late.stages[-1].ended == 10.1
    assert all(before.ended == after.begun for before, after in pairwise(late.stages))
    assert late.worst.name == "start"
    assert late.moment == (10.02, 10.1)
    assert tail.late_ones(due, {7: 10.01}, WAY, 0.015) == []


def test_what_went_on_is_told_for_the_moment_alone():
    def sample(n: int) -> host.Sample:
        """In the second half half of the processors is stolen, and somebody waits for the disk."""
        at, half = 10.0 + n / 100, max(0, n - 5)
        return host.Sample(
            at, at, half / 200 * os.cpu_count(), 0.0, {"beat": at / 2}, {"beat": 0.0}, ["IO"] * bool(half)
        )

    samples = [sample(n) for n in range(11)]
    causes = tail.Causes(WAY, tail.Machine(samples))

    early, after = causes.shares([(10.0, 10.04)]), causes.shares([(10.06, 10.1)])

    assert early == {"chore count": 1.0, "no processor free": 1.0}
    assert after == {"stolen by the host": 1.0, "no processor free": 1.0, "PostgreSQL: IO": 1.0}
    taken = tail.Machine(samples).taken([(10.0, 10.1)])
    assert (round(taken["beat"], 2), round(taken["other programs"], 2)) == (0.5, 0.5)


def every(seconds: float, begun: float, ended: float) -> list[float]:
    return [begun + place * seconds for place in range(round((ended - begun) / seconds))]


@pytest.mark.parametrize(
    ("answered", "seconds"),
    [
        (every(0.05, 10, 60), 3.0),  # 20 a second, so the backlog shrinks from the first one on
        (every(0.05, 25, 60), 16.5),  # 31 answers, one more than came due, take 1.5 s
        (every(0.2, 10, 60), None),  # half of its rate
        (every(0.108, 10, 60), None),  # 0.93 of it: the backlog grows
        (every(0.1, 0, 10) + every(0.108, 10, 60), 3.0),  # but here it is nothing to speak of
        ([], None),
    ],
)
def test_an_endpoint_has_recovered_when_it_gets_its_rate_and_its_backlog_shrinks(answered, seconds):
    assert receivers.recovered_after(every(0.1, 0, 60), answered, 10, 60, 10) == pytest.approx(seconds, abs=0.1)


def test_a_call_that_never_came_is_as_late_as_the_phase_was_long():
    calls = [receivers.Call(0, "a", 10.5, 10.6, 500), receivers.Call(0, "a", 12.0, 12.1, 200)]
    calls += [receivers.Call(0, "b", 31.0, 31.1, 200)]

    late = receivers.lateness_ms({"a": 10.0, "b": 11.0, "c": 12.0}, receivers.first_requests(calls), 30.0)

    assert late == [500, 19_000, 18_000]
    assert receivers.first_answers(calls) == {"a": 12.1, "b": 31.1}


def test_endpoints_of_the_receiver_behave_as_they_are_called_and_can_recover(tmp_path):
    def call(port: int) -> tuple[int, str | None]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("POST", "/calls", body="{}", headers={"Punctual-Key": f"0-beside-{port}"})
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers["Retry-After"]
        except ConnectionResetError:
            return 0, None
        finally:
            connection.close()

    kinds = ("healthy", "reset", "500", "404", "429", "202")
    endpoints = [receivers.Endpoint(number, kind, "north") for number, kind in enumerate(kinds)]
    with receivers._receiver(tmp_path / "calls", endpoints) as receiver:
        sick = [call(port) for port in receiver.ports]
        receiver.heal([1, 2, 4])
        wait_until(lambda: call(receiver.ports[1])[0] == 200, timeout=10)
        well = [call(port) for port in receiver.ports]

    assert sick == [(200, None), (0, None), (500, None), (404, None), (429, "5"), (202, None)]
    assert [status for status, _ in well] == [200, 200, 200, 404, 200, 202]
    seen = [(one.endpoint, one.key, one.status) for one in receivers._calls(tmp_path / "calls")]
    assert seen[:6] == [
        (number, f"0-beside-{receiver.ports[number]}", status) for number, (status, _) in enumerate(sick)
    ]
    assert {status for endpoint, _, status in seen[6:] if endpoint in (2, 4)} == {200}


def test_half_of_the_endpoints_are_healthy_and_each_tenant_has_both_kinds():
    endpoints = list(receivers._endpoints())
    healthy = [one.tenant for one in endpoints if one.behaviour == receivers.HEALTHY]

    assert len(endpoints) == 50
    assert len(healthy) >= 25
    assert {*healthy} == {one.tenant for one in endpoints if one.behaviour != receivers.HEALTHY} == {*receivers.TENANTS}

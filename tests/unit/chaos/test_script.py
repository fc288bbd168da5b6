"""Same seed, same faults and same tasks; and every fault of every script is one that can be done and undone."""

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

from chaos import curbs, scenarios, workload
from chaos.faults import Faults
from chaos.scenarios import ALL, BEATS, FULL, QUIET_END, WORKERS


@pytest.mark.parametrize("name", ALL)
def test_the_same_seed_gives_the_same_faults_at_the_same_moments_against_the_same_targets(name):
    assert ALL[name].script(7) == ALL[name].script(7)


def test_another_seed_gives_another_script():
    assert ALL["kill"].script(1) != ALL["kill"].script(2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ALL)
def test_every_fault_can_be_done_and_undone_and_leaves_time_to_get_over_it(name, seed):
    scenario = ALL[name]
    for fault in scenario.script(seed):
        assert hasattr(Faults, f"begin_{fault.kind}"), fault
        assert not fault.seconds or hasattr(Faults, f"end_{fault.kind}"), fault
        assert fault.at + fault.seconds <= scenario.seconds - QUIET_END, fault


def test_the_page_says_of_every_scenario_what_happened():
    page = Path(__file__).resolve().parents[3] / "docs" / "chaos.md"

    assert sorted(
        re.findall(r"^\| `([a-z-]+)` \|", page.read_text().partition("## What the oracle asks")[0], re.M)
    ) == sorted(FULL)


def test_the_kill_script_is_what_was_asked_for():
    script = ALL["kill"].script(1)

    assert len(script) == 20
    assert {round(later.at - earlier.at, 3) for earlier, later in pairwise(script)} == {3.0}
    assert {fault.kind for fault in script} == {"kill", "kill_child"}
    assert {fault.target for fault in script} <= {*BEATS, *WORKERS}


def test_only_what_hits_a_running_batch_may_lose_one():
    at_stake = {fault.kind: fault.batches_at_stake for name in ALL for fault in ALL[name].script(1)}

    harmless = (
        "flush_broker",
        "kill_broker",
        "stall_broker",
        "make_broker_readonly",
        "fill_broker",
        "rubbish",
        "break_lane",
    )
    assert {kind: at_stake[kind] for kind in (*harmless, "terminate")} == dict.fromkeys((*harmless, "terminate"), 0)


def test_the_same_seed_gives_the_same_tasks():
    first, second = (workload.innocents(random.Random(7), 500, 60) for _ in range(2))

    assert first == second


def test_the_tasks_are_of_all_kinds_and_cover_the_whole_run():
    tasks = workload.innocents(random.Random(7), 20_000, 60)

    assert {task.task_type for task in tasks} == {*workload.ROW_TYPES, *workload.LINE_TYPES}
    assert len({task.lane for task in tasks}) == 3
    assert 0.09 < sum("fails" in task.payload for task in tasks) / len(tasks) < 0.11
    assert 0.04 < sum("slow" in task.payload for task in tasks) / len(tasks) < 0.06
    assert (tasks[0].at, round(tasks[-1].at)) == (0, 60)


def test_the_scripts_know_the_lease_of_the_settings():
    from chaos import settings

    assert settings.PUNCTUAL["RUN_LEASE_SECONDS"] == scenarios.RUN_LEASE_SECONDS


def test_every_script_that_moves_what_is_over_has_the_mover_kept_busy():
    for scenario in ALL.values():
        assert scenario.moves == (scenario.env.get("CHAOS_MOVES") == "1")


def test_every_safeguard_is_ended_once_by_a_person_and_once_by_itself_while_beats_die():
    script = ALL["safeguards"].script(1)
    held = {(fault.kind, fault.target) for fault in script if fault.kind in ("hold", "lapse")}

    assert held == {(kind, name) for kind in ("hold", "lapse") for name in curbs.HOLDS}
    assert tuple(curbs.HOLDS) == scenarios.HOLDS
    assert sum(fault.kind == "kill" and fault.target in BEATS for fault in script) == 4


def test_each_worker_is_drained_while_the_other_works_and_beats_die():
    script = ALL["drain"].script(1)
    drained = [fault for fault in script if fault.kind == "drain"]

    assert {fault.target for fault in drained} == {*WORKERS}
    assert all(one.at + one.seconds < other.at for one, other in pairwise(drained))
    for one in drained:
        inside = [fault for fault in script if fault.kind == "kill" and one.at < fault.at < one.at + one.seconds]
        assert inside and {fault.target for fault in inside} <= {*BEATS}


def test_the_mover_is_hit_by_every_kind_of_fault_that_can_end_it():
    kinds = {(fault.kind, fault.target) for fault in ALL["move"].script(1)}

    assert {("kill", BEATS[0]), ("kill", BEATS[1]), ("stop_postgres", "database")} <= kinds
    assert {("cut_connections", "database"), ("flush_broker", "broker"), ("kill", WORKERS[0])} <= kinds


def test_all_but_the_small_one_are_judged_by_how_long_the_service_was_away():
    assert {name for name, scenario in ALL.items() if scenario.judges_recovery} == set(FULL)

"""A run of a graph as an object: its state, its critical path, and to go through it again."""

from datetime import timedelta

import pytest

from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.core.graphs import RunState
from tasks_app.engine.beat.releaser import release
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.engine.operations.runs import rerun
from tasks_app.engine.watch.runs import RunFilter, page_of_runs, run_by_id, run_of
from tasks_app.lifecycle.jobs.run import read_run
from tasks_app.lifecycle.past import move_batches, move_strays
from tasks_app.lifecycle.turns import give_turns
from tasks_app.models import AuditEntry, JobDefinition, ScheduleTask, TaskBatch, TaskWait
from tests.support.engine import claim_due, run_due
from tests.support.graphs import begun, ends, family, run_all, states, tasks
from tests.support.jobs import by, now
from tests.support.marks import commits

pytestmark = commits


@pytest.fixture(autouse=True)
def _rules_hold():
    yield
    assert_consistent()


def again(run, from_job: str | None = None):
    return rerun(run.id, by("it is mended"), tenant="default", from_job=from_job)


def mend() -> None:
    JobDefinition.objects.update(payload={})
    ScheduleTask.objects.update(payload={})


def test_the_states_of_a_run():
    family(a=["root"], b=["a"])
    ends("a", "die")
    run = begun()
    seen = [read_run(run).state]
    run_due()
    seen.append(read_run(run).state)
    run_due()
    seen.append(read_run(run).state)
    mend()
    again(run)
    seen.append(read_run(run).state)
    run_all()
    seen.append(read_run(run).state)

    assert seen == [RunState.WAITING, RunState.RUNNING, RunState.STUCK, RunState.RUNNING, RunState.SUCCEEDED]


def test_a_root_that_lets_no_two_overlap_waits_for_its_turn_again():
    root = family(a=["root"], options={"root": {"overlap": "skip"}})
    run = begun()
    give_turns([root.id])
    run_all()
    begun("root", "another")
    give_turns([root.id])
    claim_due()
    assert (states()["a"], states("m:another")["root"]) == ("SUCCESS", "RUNNING")

    again(run, "root")
    give_turns([root.id])

    assert states() == {"root": "BLOCKED", "a": "BLOCKED"}
    assert states("m:another")["root"] == "RUNNING"


def test_a_run_that_is_over_and_did_not_all_succeed_has_failed():
    family(a=["root"], options={"a": {"if_parent_fails": "cancel"}})
    ends("root", "die")
    run = begun()
    run_all()

    assert read_run(run).state == RunState.FAILED


def test_it_tells_what_waits_for_whom_and_what_its_end_has_waited_for():
    family(fast=["root"], slow=["root"], last=["fast", "slow"])
    run = begun()
    run_due()
    view = read_run(run)
    names = {node.name: node for node in view.nodes.values()}
    assert [one.name for one in view.waits_for(names["last"])] == ["fast", "slow"]

    run_all()
    late = now() + timedelta(seconds=5)
    ScheduleTask.objects.filter(id=tasks()["slow"].id).update(finish_time=late)
    ScheduleTask.objects.filter(id=tasks()["last"].id).update(finish_time=late + timedelta(seconds=1))
    view = read_run(run)
    assert [view.nodes[job].name for job in view.critical_path] == ["root", "slow", "last"]


def test_it_is_found_by_its_job_and_by_its_tasks():
    family(a=["root"])
    family("other", x=["other"])
    first, second = begun(), begun(key="more")
    theirs = begun("other")

    assert [row.id for row in page_of_runs(RunFilter("default", first.job), None, 10)[0]] == [second.id, first.id]
    assert page_of_runs(RunFilter("default"), None, 2)[1] == second.id
    assert run_of(tasks()["a"]).id == first.id
    assert run_of(tasks()["x"]).id == theirs.id
    assert run_by_id(first.id, RunFilter("acme")) is None


def test_from_what_failed_on_a_dead_task_is_replayed_and_what_waits_goes_on_waiting():
    family(a=["root"], b=["a"], other=["root"])
    ends("a", "die")
    run = begun()
    run_all()
    before = {name: row.id for name, row in tasks().items()}
    mend()

    done = again(run)

    assert (done.started, done.waiting, done.left) == (["a"], ["b"], [])
    assert {name: row.id for name, row in tasks().items()} == before
    run_all()
    assert set(states().values()) == {"SUCCESS"}
    entry = AuditEntry.objects.get(subject=f"run {run.id}")
    assert (entry.verb, entry.reason, entry.detail["started"]) == ("rerun", "it is mended", ["a"])


def test_what_was_cancelled_after_a_failure_waits_again():
    cancel = {"if_parent_fails": "cancel"}
    family(a=["root"], b=["a"], c=["b"], options={"b": cancel, "c": cancel})
    ends("a", "die")
    run = begun()
    run_all()
    assert states() == {"root": "SUCCESS", "a": "DEAD", "b": "CANCELLED", "c": "CANCELLED"}
    mend()

    done = again(run)

    assert (done.started, done.waiting) == (["a"], ["b", "c"])
    assert states() == {"root": "SUCCESS", "a": "INIT", "b": "BLOCKED", "c": "BLOCKED"}
    assert release() == 0
    run_all()
    assert set(states().values()) == {"SUCCESS"}


def test_from_any_job_on_even_if_all_succeeded_and_lies_in_the_past():
    family(a=["root"], b=["a"], other=["root"])
    run = begun()
    run_all()
    before = {name: row.id for name, row in tasks().items()}
    long_ago = now() - timedelta(days=1)
    TaskBatch.objects.update(finished_at=long_ago)
    ScheduleTask.objects.update(updated_at=long_ago - timedelta(hours=1))
    move_batches()
    move_strays(0)
    assert not ScheduleTask.objects.exists()

    again(run, "a")

    assert states() == {"root": "SUCCESS", "a": "INIT", "b": "BLOCKED", "other": "SUCCESS"}
    assert tasks()["other"].id == before["other"]
    run_all()
    assert set(states().values()) == {"SUCCESS"}
    assert not TaskWait.objects.exists()


def test_what_can_not_be_run_again_is_refused():
    family(a=["root"], b=["a"])
    run = begun()

    with pytest.raises(InvalidTask, match=f"nothing of run {run.id} has failed"):
        again(run)
    with pytest.raises(InvalidTask, match=r"has no such job\. Did you mean 'root'\?"):
        again(run, "roott")
    with pytest.raises(InvalidTask, match=r"'root' in run \d+ is INIT, so it can't be run again"):
        again(run, "root")
    with pytest.raises(NotThere):
        rerun(run.id, by(), tenant="acme")


def test_what_is_not_over_is_left_as_it_is():
    family(a=["root"], b=["root"], last=["a", "b"], options={"last": {"when": "any_failed"}})
    ends("a", "die")
    run = begun()
    run_due()
    run_due()
    assert states()["last"] == "INIT"

    done = again(run)

    assert (done.started, done.left) == (["a"], ["last"])


def test_a_second_order_while_the_first_is_under_way_finds_nothing_that_failed():
    family(a=["root"])
    ends("root", "die")
    run = begun()
    run_all()
    again(run)

    with pytest.raises(InvalidTask):
        again(run)


def test_a_dead_task_that_a_rerun_replays_has_the_replay_among_what_people_did():
    family(a=["root"])
    ends("a", "die")
    run = begun()
    run_all()
    mend()

    again(run)

    [entry] = AuditEntry.objects.filter(task_id=tasks()["a"].id)
    assert (entry.verb, entry.outcome, entry.reason) == ("rerun", "replayed", "it is mended")
    assert entry.detail == {"of": f"run {run.id}"}

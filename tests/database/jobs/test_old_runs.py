"""Runs that are older than what is kept: nothing of them is lost while something of them lives."""

from datetime import timedelta

import pytest

from django_punctual import cancel
from tasks_app.core.graphs import RunState
from tasks_app.core.rules import Rule
from tasks_app.engine.beat.alarms.looking import stuck
from tasks_app.engine.beat.releaser import release
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.engine.operations.runs import rerun
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.run import read_lines, read_run
from tasks_app.lifecycle.past import move_batches, move_strays
from tasks_app.models import GraphRun, PastTask, ScheduleTask, TaskBatch, TaskWait
from tests.support.alarms import rule
from tests.support.engine import run_due
from tests.support.graphs import TYPE, begun, child, ends, family, job_named, run_all, states, tasks
from tests.support.jobs import by, instances, now
from tests.support.marks import commits

pytestmark = commits
LONG_AGO = timedelta(days=20)


@pytest.fixture
def far_away() -> GraphRun:
    """A run at a single time that was made 20 days ago, and begins next year."""
    later = now().replace(microsecond=0, month=6, day=1, year=now().year + 1)
    family(options={"root": {"every": 0, "at": later}})
    child("a", "root")
    child("b", "a")
    return made_long_ago()


def made_long_ago() -> GraphRun:
    GraphRun.objects.update(created_at=now() - LONG_AGO)
    return GraphRun.objects.get()


def moved_to_the_past() -> None:
    TaskBatch.objects.filter(finished_at__isnull=False).update(finished_at=now() - timedelta(days=1))
    ScheduleTask.objects.filter(status__in=["SUCCESS", "CANCELLED"]).update(updated_at=now() - timedelta(days=2))
    move_batches()
    move_strays(0)


def cancelled_parent() -> ScheduleTask:
    """root was cancelled, and a and b wait for it; long ago."""
    family(a=["root"], b=["a"])
    begun()
    root = tasks()["root"]
    cancel(TYPE, root.biz_key, reason="not today")
    release()
    return root


def test_a_run_that_has_not_begun_is_kept_and_an_edit_plans_all_of_it_again(far_away):
    before = {row.id for row in tasks(far_away.label).values()}
    assert prune().runs == 0

    verbs.edit(job_named("root").id, {"payload": {"new": 1}}, by())

    after = tasks(far_away.label)
    assert {name: row.status for name, row in after.items()} == {"root": "INIT", "a": "BLOCKED", "b": "BLOCKED"}
    assert before.isdisjoint(row.id for row in after.values())
    assert_consistent()


def test_what_waits_is_taken_back_even_if_its_run_is_gone(far_away):
    GraphRun.objects.all().delete()

    verbs.pause(job_named("root").id, by())

    assert not instances(job_named("a")) and not instances(job_named("b"))
    assert not TaskWait.objects.exists()
    assert_consistent()


def test_a_run_goes_when_it_is_over_and_not_while_something_of_it_waits():
    family(a=["root"])
    ends("root", "die")
    begun()
    run_all()
    made_long_ago()
    assert prune().runs == 0

    cancel(TYPE, tasks()["a"].biz_key, reason="given up")
    release()

    assert (states(), prune().runs) == ({"root": "DEAD", "a": "CANCELLED"}, 1)


def test_what_was_cancelled_stays_as_long_as_others_wait_for_it():
    rule(conditions=("blocked",))
    root = cancelled_parent()
    run = made_long_ago()
    moved_to_the_past()
    assert prune().runs == 0

    assert why_task(tasks()["a"]).words.startswith(f"It waits for 'root', which was cancelled (task {root.id}:")
    [seen] = stuck()
    assert (seen.cause, seen.sample["waiting"]) == (f"task {root.id}", ["a", "b"])

    rerun(run.id, by("now it may"), tenant="default")
    run_all()
    moved_to_the_past()
    assert set(states().values()) == {"SUCCESS"}
    assert PastTask.objects.filter(id=root.id).exists()
    assert_consistent()


def test_a_result_stays_as_long_as_somebody_waits_to_read_it():
    family(a=["root"], b=["root"], last=["a", "b"], options={
        "a": {"payload": {"return": 7}}, "b": {"payload": {"do": "retry"}},
    })  # fmt: skip
    begun()
    run_due()
    run_due()

    moved_to_the_past()

    made = tasks()
    assert list(PastTask.objects.values_list("id", flat=True)) == [made["root"].id]
    assert ScheduleTask.objects.get(id=made["a"].id).result == 7


def test_a_parent_that_is_gone_all_the_same_is_told_by_what_was_noted_of_it():
    rule(conditions=("blocked",))
    root = cancelled_parent()
    ScheduleTask.objects.filter(id=root.id).delete()
    release()

    reason = why_task(tasks()["a"])
    assert (reason.rule, reason.words) == (
        Rule.PARENT_FAILED,
        f"It waits for task {root.id}, which was cancelled or taken back and is no longer kept. "
        "Run the graph again from there, or cancel this one.",
    )
    [seen] = stuck()
    assert (seen.tenant, seen.sample["parent"], seen.sample["waiting"]) == ("default", f"task {root.id}", ["a", "b"])


def test_of_a_run_some_of_which_is_kept_no_longer_only_what_is_known_is_said():
    family(a=["root"], b=["a"])
    run, other = begun(), begun(key="other")
    ScheduleTask.objects.filter(id=tasks("m:other")["a"].id).update(payload={"do": "die"})
    run_all()

    def states_without(*names: str) -> list[str]:
        """Of both, once these of their tasks are gone; as a list shows them, too."""
        for label in ("m:now", "m:other"):
            ScheduleTask.objects.filter(id__in=[tasks(label)[name].id for name in names]).delete()
        shown = [read_run(run).state, read_run(other).state]
        assert [line.state for line in read_lines([run, other])] == shown
        return shown

    assert states_without() == [RunState.SUCCEEDED, RunState.STUCK]
    TaskWait.objects.all().delete()
    assert states_without("root", "b") == [RunState.UNKNOWN, RunState.FAILED]
    assert states_without("a") == [RunState.UNKNOWN, RunState.UNKNOWN]
    assert [(line.name, line.tally.gone) for line in read_lines([run])] == [("root", 3)]


def test_one_that_was_run_again_lately_is_kept():
    family(a=["root"])
    ends("a", "die")
    run = begun()
    run_all()
    made_long_ago()
    ends("a", "ok")
    ScheduleTask.objects.update(payload={})
    rerun(run.id, by(), tenant="default")
    run_all()
    assert set(states().values()) == {"SUCCESS"}

    prune()
    assert GraphRun.objects.filter(id=run.id).exists()

    GraphRun.objects.update(rerun_at=now() - LONG_AGO)
    prune()
    assert not GraphRun.objects.exists()

"""A release beside a settle, another release, a cancel, a move, a replacement; and two changes of one graph."""

from uuid import UUID

import pytest

from django_punctual import cancel, ensure, reschedule
from tasks_app.core.errors import InvalidTask
from tasks_app.core.task import Task
from tasks_app.engine.beat.releaser import release
from tasks_app.lifecycle.campaigns import steps
from tasks_app.lifecycle.claim import ClaimedBatch
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.planning import plan_due
from tasks_app.lifecycle.release import Released, release_children, release_tasks
from tasks_app.lifecycle.start import start
from tasks_app.models import JobCursor, JobDefinition, JobParent, OutboxEvent, ScheduleTask
from tests.support.backfill import backfilled, hours
from tests.support.engine import claim_due, run_due
from tests.support.graphs import begun, family, forget, job_named, states, tasks, waits
from tests.support.jobs import by, instances, now
from tests.support.marks import commits
from tests.support.moves import MONDAY, settled
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


@pytest.fixture
def parents():
    """`last` waits for `left` and `right`, which two workers have started."""
    family(left=["root"], right=["root"], last=["left", "right"])
    begun()
    run_due()
    return {named(one.tasks[0]): one for one in (start(batch_no(b), "w") for b in claim_due(size=1))}


def batch_no(batch: ClaimedBatch) -> UUID:
    return UUID(batch.batch_no)


def named(task: Task) -> str:
    return JobDefinition.objects.get(id=task.job).name


def settle_and_look(batch) -> int:
    settled(batch)
    return release_children([task.id for task in batch.tasks]).tasks


def ready():
    """`a` waits for nothing any more, and nobody has looked."""
    family(a=["root"])
    begun()
    [batch] = claim_due()
    settled(start(batch_no(batch), "w"))
    return tasks()["a"]


def test_of_two_parents_that_end_at_the_same_time_the_second_sees_the_first(parents):
    """The first has settled and not committed when the second looks; it looks itself after its commit."""
    left, right = parents["left"], parents["right"]

    _, seen = overlap(lambda: settled(left), lambda: settle_and_look(right))

    assert (seen, states()["last"]) == (0, "BLOCKED")
    assert release_children([task.id for task in left.tasks]).tasks == 1
    assert states()["last"] == "INIT"


def test_a_parent_whose_settle_is_rolled_back_has_not_ended(parents):
    left, right = parents["left"], parents["right"]

    _, seen = overlap(lambda: settled(left), lambda: settle_and_look(right), commit=False)

    assert (seen, states()["last"]) == (0, "BLOCKED")
    assert release() == 0


@pytest.mark.usefixtures("every_event")
@pytest.mark.parametrize("commit", [True, False])
def test_two_looks_release_once(commit):
    row = ready()

    first, second = overlap(lambda: release_tasks([row.id]), lambda: release_tasks([row.id]), commit=commit)

    assert (first.tasks, second.tasks) == (1, 0 if commit else 1)
    assert states()["a"] == "INIT"
    told = OutboxEvent.objects.filter(event="task.released").values_list("task_ids", flat=True)
    assert [one for ids in told for one in ids] == [row.id]


@pytest.mark.parametrize("commit", [True, False])
def test_a_look_beside_a_cancel_of_the_child(commit):
    row = ready()

    first, second = overlap(
        lambda: cancel(row.task_type, row.biz_key, reason="no", by="olga"),
        lambda: release_tasks([row.id]),
        commit=commit,
    )

    assert first.cancelled
    assert second.tasks == (0 if commit else 1)
    assert states()["a"] == ("CANCELLED" if commit else "INIT")


@pytest.mark.parametrize("commit", [True, False])
def test_a_cancel_of_the_child_beside_a_look(commit):
    row = ready()

    first, second = overlap(
        lambda: release_tasks([row.id]),
        lambda: cancel(row.task_type, row.biz_key, reason="no", by="olga"),
        commit=commit,
    )

    assert (first.tasks, second.cancelled) == (1, True)
    assert states()["a"] == "CANCELLED"


@pytest.mark.parametrize("commit", [True, False])
def test_a_look_beside_a_move_of_the_child(commit):
    row = ready()

    _, second = overlap(
        lambda: reschedule(row.task_type, row.biz_key, at=MONDAY), lambda: release_tasks([row.id]), commit=commit
    )

    after = tasks()["a"]
    assert (second.tasks, after.status) == (1, "INIT")
    assert (after.due_at == MONDAY) == commit


@pytest.mark.parametrize("commit", [True, False])
def test_a_move_of_the_child_beside_a_look(commit):
    row = ready()

    overlap(lambda: release_tasks([row.id]), lambda: reschedule(row.task_type, row.biz_key, at=MONDAY), commit=commit)

    after = tasks()["a"]
    assert (after.status, after.execute_time) == ("INIT" if commit else "BLOCKED", MONDAY)


@pytest.mark.parametrize("commit", [True, False])
def test_a_row_takes_over_from_a_parent_beside_a_look(commit):
    """Whoever looks while that is not committed sees the parent that runs; afterwards, the row that took over."""
    family(a=["root"])
    begun()
    claim_due()
    row, child = tasks()["root"], tasks()["a"]

    _, seen = overlap(
        lambda: ensure(row.task_type, row.biz_key, delay=0), lambda: release_tasks([child.id]), commit=commit
    )

    assert (seen.tasks, seen.cancelled) == (0, 0)
    assert waits() == {(child.id, tasks()["root"].id)}
    assert release() == 0
    assert (tasks()["root"].id != row.id) == commit


def test_a_look_holds_up_nobody_who_takes_over_from_a_parent():
    """A parent that has succeeded runs once more, at the moment at which its child is released."""
    child = ready()
    row = tasks()["root"]

    first, second = overlap_results(
        lambda: release_tasks([child.id]), lambda: ensure(row.task_type, row.biz_key, delay=0)
    )

    assert (first.error, second.error) == (None, None)
    assert states() == {"root": "INIT", "a": "INIT"}
    release()
    assert not waits()


@pytest.mark.parametrize("commit", [True, False])
def test_two_changes_that_are_each_right_make_no_circle_together(commit):
    """Neither touches a row of the other: `a` is to come after `y`, which is after `b`; `b` after `x`, after `a`."""
    family(a=["root"], b=["root"], x=["a"], y=["b"])
    first, second = overlap_results(
        lambda: verbs.edit(job_named("a").id, {"parents": ["root", "y"]}, by()),
        lambda: verbs.edit(job_named("b").id, {"parents": ["root", "x"]}, by()),
        commit=commit,
    )

    assert first.error is None
    assert second.waited
    if commit:
        assert isinstance(second.error, InvalidTask)
        assert "wait for each other" in str(second.error)
    else:
        assert second.error is None
    assert JobParent.objects.count() == 5


@pytest.mark.parametrize("commit", [True, False])
def test_a_planner_passes_over_a_graph_that_is_being_changed(commit):
    root = family(a=["root"], b=["a"], options={"root": {"every": 10}})
    forget()
    JobCursor.objects.update(next_fire=root.schedule.next(now(), 1)[0])
    JobDefinition.objects.update(plan_from=now())

    _, planned = overlap(
        lambda: verbs.edit(job_named("b").id, {"parents": ["root"]}, by()),
        lambda: plan_due(range(16), 30.0),
        commit=commit,
    )
    plan_due(range(16), 30.0)

    assert planned.instances == 0
    root_id, a, b = (job_named(name).id for name in ("root", "a", "b"))
    jobs = dict(ScheduleTask.objects.values_list("id", "job"))
    assert {(jobs[child], jobs[parent]) for child, parent in waits()} == {(a, root_id), (b, root_id if commit else a)}
    assert len(instances(b)) == len(instances(root_id)) > 0


@pytest.mark.parametrize("commit", [True, False])
def test_a_trigger_waits_for_a_change_of_the_graph(commit):
    family(a=["root"], b=["a"])

    overlap(
        lambda: verbs.edit(job_named("b").id, {"parents": ["root"]}, by()),
        lambda: verbs.trigger(job_named("a").id, "now", by()),
        commit=commit,
    )

    assert states() == ({"a": "INIT"} if commit else {"a": "INIT", "b": "BLOCKED"})


@pytest.mark.parametrize("commit", [True, False])
def test_a_backfill_waits_for_a_change_of_the_graph(commit):
    family(a=["root"], b=["a"], options={"root": {"every": 0, "cron": "0 * * * *"}})
    [fire] = times = hours(1)
    backfilled(times, job_named("a"))

    overlap(
        lambda: verbs.edit(job_named("b").id, {"parents": ["root"]}, by()),
        lambda: steps.step("test"),
        commit=commit,
    )

    made = states(fire.isoformat().replace("+00:00", "Z"))
    assert made == ({"a": "INIT"} if commit else {"a": "INIT", "b": "BLOCKED"})


def test_nothing_is_released_of_a_job_while_its_pause_is_not_over():
    row = ready()
    verbs.pause(job_named("a").id, by())

    _, seen = overlap(lambda: verbs.resume(job_named("a").id, by()), lambda: release_tasks([row.id]))

    assert isinstance(seen, Released)
    assert states()["a"] == "INIT"

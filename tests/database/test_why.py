"""Why is this not running? One rule, in words; and the commands that say it."""

import io
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tasks_app.client import cancel, schedule
from tasks_app.core.handlers import REGISTRY, handler
from tasks_app.engine.why import why_job, why_task
from tasks_app.lifecycle import jobs
from tasks_app.lifecycle.start import start
from tasks_app.models import JobDefinition, Node, ScheduleTask, TaskBatch
from tests.support.engine import claim_due, make_due, row, run_due
from tests.support.jobs import by, instances, make, now
from tests.support.moves import FINAL, RETRY, settled, started

pytestmark = pytest.mark.django_db(transaction=True)

# However slow the machine, no process falls silent before the test has ended.
SOON = timezone.now() + timedelta(hours=1)


@pytest.fixture
def beat():
    Node.objects.create(node_id=uuid4(), kind=Node.BEAT, name="b", seen_at=SOON)


@pytest.fixture
def worker(beat):
    Node.objects.create(node_id=uuid4(), kind=Node.WORKER, name="w", slots=1, lanes=["default"], seen_at=SOON)


def due(lane: str | None = None) -> ScheduleTask:
    task = schedule("T_QUIET", "a", lane=lane).task_id
    make_due(task)
    return row(task)


def why(task: ScheduleTask | int) -> str:
    return why_task(row(getattr(task, "id", task))).rule


def test_a_task_that_is_not_due_says_when_it_will_be():
    reason = why_task(row(schedule("T_QUIET", "a", delay=3600).task_id))

    assert reason.rule == "not_due" and "not due until" in reason.words


def test_a_due_task_needs_a_beat_a_worker_and_a_slot(beat):
    task = due()
    Node.objects.all().update(seen_at=now() - timedelta(hours=1))
    assert why(task) == "no_dispatcher"
    Node.objects.all().update(seen_at=SOON)
    assert why(task) == "no_worker"
    Node.objects.create(node_id=uuid4(), kind=Node.WORKER, name="w", slots=1, lanes=["default"], seen_at=SOON)
    assert why(task) == "about_to_run"
    for _ in range(4):
        TaskBatch.objects.create(
            batch_no=uuid4(),
            task_type="T_QUIET",
            lane="default",
            ids=[],
            dispatcher="d",
            claimed_at=now(),
            lease_until=now() + timedelta(hours=1),
        )
    assert why(task) == "waits_for_slot"


def test_a_claimed_task_waits_for_a_worker_and_then_runs(worker):
    task = due()
    [batch] = claim_due()
    assert why(task) == "waits_for_slot"
    start(UUID(batch.batch_no), "w1")
    reason = why_task(row(task.id))
    assert reason.rule == "running" and "w1" in reason.words
    TaskBatch.objects.update(finished_at=now())
    assert why(task) == "lost"


def test_a_claimed_task_of_a_lane_without_workers(beat):
    task = due("low")
    claim_due()

    assert why(task) == "no_worker"


def test_what_has_ended_says_how(worker):
    failed, dead = started("failed"), None
    settled(failed, RETRY)
    assert why(failed.tasks[0].id) == "waits_for_retry"
    dead = started("dead")
    settled(dead, FINAL)
    assert why(dead.tasks[0].id) == "dead"
    done = schedule("T_QUIET", "done").task_id
    run_due()
    assert why(done) == "done"
    gone = schedule("T_QUIET", "gone", delay=60).task_id
    cancel("T_QUIET", "gone", reason="not wanted", by="bob")
    assert why_task(row(gone)).words == "It was cancelled by bob: not wanted."


def test_a_type_that_no_worker_knows(worker):
    handler("T_GONE")(lambda task: None)
    try:
        task = schedule("T_GONE", "a").task_id
    finally:
        REGISTRY.discard("T_GONE")
    run_due()

    assert why(task) == "unknown_handler"


def test_a_job_says_what_holds_it(worker):
    job = make(every=3600)
    assert why_job(job).rule == "not_due"
    assert "not due until" in why_job(jobs.edit(job.id, {"every": 30}, by()).job).words
    paused = jobs.pause(job.id, by("too loud", "bob")).job
    assert why_job(paused).words == "Paused by bob: too loud."
    ended = make("ended", every=10, max_runs=1)
    make_due(instances(ended)[0].id)
    run_due()
    assert why_job(JobDefinition.objects.get(id=ended.id)).rule == "ended"
    JobDefinition.objects.filter(id=ended.id).update(task_type="T_GONE")
    assert why_job(JobDefinition.objects.get(id=ended.id)).rule == "unknown_handler"


def told(*command: str) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


def test_the_commands_say_it():
    job = make("report", cron="0 9 * * *", timezone="Europe/Berlin")
    task = schedule("T_QUIET", "a", delay=3600).task_id

    assert told("why", str(task)).startswith("not_due: ")
    assert told("why", str(job.id), "--job").startswith("not_due: Fires next on")
    for name in ("report", str(job.id)):
        lines = told("plan", "--preview", name).splitlines()
        assert lines[0] == "report: At 09:00 every day, Europe/Berlin time"
        assert len(lines) == 12 and all(" 09:00 CE" in line for line in lines[2:])
    assert told("plan") == "0 instances planned.\n"
    for command in (["why", "99999"], ["why", "99999", "--job"], ["plan", "--preview", "nope"]):
        with pytest.raises(CommandError, match="no "):
            told(*command)
    with pytest.raises(CommandError, match="no job"):
        told("plan", "--preview", "report", "--tenant", "acme")

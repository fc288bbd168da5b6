"""Why is this not running? One rule, in words; and the commands that say it."""

import io
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from django_punctual import cancel, move_tasks, schedule, schedule_many
from tasks_app.core.handlers import REGISTRY, handler
from tasks_app.core.rules import Rule
from tasks_app.core.sharding import home_of
from tasks_app.engine import canary
from tasks_app.engine.operations import lanes
from tasks_app.engine.watch.why import why_job, why_task
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.view import state_of
from tasks_app.lifecycle.limited import declare_limits
from tasks_app.lifecycle.start import start
from tasks_app.models import JobDefinition, Node, ScheduleTask, ShardLease, TaskBatch, TypeLimit
from tests.support.engine import claim_due, make_due, row, run_due
from tests.support.graphs import begun, ends, family, job_named, tasks
from tests.support.jobs import by, instances, make, now
from tests.support.live import a_beat_is_alive, a_worker_is_alive, nobody_is_alive
from tests.support.moves import FINAL, RETRY, settled, started

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def beat():
    a_beat_is_alive()


@pytest.fixture
def worker(beat):
    a_worker_is_alive("default")


def due(lane: str | None = None) -> ScheduleTask:
    task = schedule("T_QUIET", "a", lane=lane).task_id
    make_due(task)
    return row(task)


def why(task: ScheduleTask | int) -> str:
    return why_task(row(getattr(task, "id", task))).rule


def test_a_task_that_is_not_due_says_when_it_will_be():
    reason = why_task(row(schedule("T_QUIET", "a", delay=3600).task_id))

    assert reason.rule == "not_due" and "not due until" in reason.words


def open_batches(number: int, task_type: str = "T_QUIET", *, started: bool = False) -> None:
    for _ in range(number):
        TaskBatch.objects.create(
            batch_no=uuid4(),
            task_type=task_type,
            lane="default",
            ids=[1],
            dispatcher="d",
            claimed_at=now(),
            started_at=now() if started else None,
            lease_until=now() + timedelta(hours=1),
        )


def test_a_due_task_needs_a_beat_a_worker_and_a_slot(beat):
    task = due()
    Node.objects.update(renewed_at=now() - timedelta(hours=1))
    reason = why_task(row(task.id))
    assert reason.rule == "no_dispatcher"  # it lives, and dispatches nothing
    assert "no beat is alive" not in reason.words and "can't reach the broker" in reason.words
    nobody_is_alive()
    assert why(task) == "no_dispatcher"
    a_beat_is_alive()
    assert why(task) == "no_worker"
    a_worker_is_alive("low")
    assert why(task) == "no_worker"
    a_worker_is_alive("default")
    assert why(task) == "about_to_run"
    open_batches(4)
    assert why(task) == "waits_for_slot"


def test_a_task_that_waits_for_a_slot_says_whose_shares_come_before_it(worker):
    ids = [
        schedule("T_QUIET", key, tenant=tenant).task_id
        for key, tenant in zip("abcd", ["x", "y", "me", "me"], strict=True)
    ]
    for place, id_ in enumerate(ids):
        ScheduleTask.objects.filter(id=id_).update(due_at=now() - timedelta(seconds=60 - place), shard=3)
    open_batches(4)

    def words(place: int) -> str:
        reason = why_task(row(ids[place]))
        assert reason.rule == "waits_for_slot"
        return reason.words.removeprefix("Every worker of lane 'default' is busy. ")

    assert words(0) == "0 tasks of its shard are due before it."
    assert words(1) == "It is behind another tenant's share."
    assert words(3) == "It is behind 2 other tenants' shares, and 1 task of its own tenant."


def test_a_shard_that_nobody_dispatches(worker):
    task = due()
    ShardLease.objects.exclude(shard=task.shard).update(holder=None)
    assert why(task) == "about_to_run"
    ShardLease.objects.filter(shard=task.shard).update(holder=None)
    assert "shard " + str(task.shard) in why_task(row(task.id)).words
    a_beat_is_alive()
    ShardLease.objects.filter(shard=task.shard).update(lease_until=now() - timedelta(seconds=1))
    assert why(task) == "shard_without_dispatcher"
    ShardLease.objects.filter(shard=task.shard).delete()
    assert "SHARDS" in why_task(row(task.id)).words


def test_a_paused_lane_says_who_and_why_before_anything_else(beat):
    task = due()
    lanes.pause("low", reason="the warehouse", by="bob")
    assert why(task) == "no_worker"
    lanes.pause("default", reason="the warehouse is down", by="olga")

    reason = why_task(row(task.id))

    assert reason.rule == "lane_paused"
    assert "by olga: the warehouse is down." in reason.words
    nobody_is_alive()
    assert why(task) == "lane_paused"
    claim_due()
    assert why(task) == "lane_paused"  # claimed, and given back when its message comes


@pytest.fixture
def limits():
    declare_limits(REGISTRY)


def late(task_type: str, number: int) -> list[ScheduleTask]:
    """So many due tasks of a type, each due a second after the one before."""
    ids = [one.task_id for one in schedule_many(task_type, [{"key": n} for n in range(number)])]
    make_due(*ids)
    for place, id_ in enumerate(ids):
        ScheduleTask.objects.filter(id=id_).update(due_at=now() - timedelta(seconds=number - place))
    return [row(id_) for id_ in ids]


def test_a_type_over_its_rate(worker, limits):
    TypeLimit.objects.filter(task_type="T_RATED").update(permits=2.5, filled_at=now() + timedelta(hours=1), rate=1e-9)
    first, second, third = late("T_RATED", 3)

    assert (why(first), why(second)) == ("about_to_run", "about_to_run")
    reason = why_task(row(third.id))
    assert reason.rule == "over_rate"
    assert "2 tasks of its type are due before it" in reason.words
    TypeLimit.objects.filter(task_type="T_RATED").update(permits=1)
    assert "1 task of its type is due before it" in why_task(row(second.id)).words
    home = home_of("T_RATED", 16)
    ScheduleTask.objects.filter(id=third.id).update(shard=(home + 1) % 16)  # scheduled before its type got the limit
    ShardLease.objects.filter(shard=home).update(holder=None)
    assert why(third) == "shard_without_dispatcher"


def test_a_type_whose_limit_no_beat_knows(worker):
    [task] = late("T_RATED", 1)

    assert why(task) == "limit_unknown"


def test_a_type_of_which_enough_are_running(worker, limits):
    [task] = late("T_THREE", 1)
    open_batches(2, "T_THREE", started=True)
    assert why(task) == "about_to_run"
    open_batches(1, "T_THREE", started=True)

    reason = why_task(row(task.id))

    assert reason.rule == "waits_for_slot"
    assert "3 tasks of type T_THREE are running, and at most 3 may" in reason.words


def test_a_worker_that_says_it_is_there_and_takes_nothing(worker, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}
    canary.send_canaries()
    task = due()
    assert why(task) == "about_to_run"
    ScheduleTask.objects.filter(task_type=canary.CANARY).update(created_at=now() - timedelta(hours=1))

    assert why(task) == "worker_deaf"


def test_a_claimed_task_waits_for_a_worker_and_then_runs(worker):
    task = due()
    [batch] = claim_due()
    assert why(task) == "waits_for_slot"
    start(UUID(batch.batch_no), "w1")
    reason = why_task(row(task.id))
    assert reason.rule == "running" and "w1" in reason.words
    TaskBatch.objects.update(lease_until=now() - timedelta(seconds=3))
    silent = why_task(row(task.id))
    assert silent.rule == "worker_silent" and "w1" in silent.words
    TaskBatch.objects.update(finished_at=now())
    assert why(task) == "lost"


def test_a_claimed_task_of_a_lane_without_workers(beat):
    task = due("low")
    claim_due()

    assert why(task) == "no_worker"


def test_what_has_ended_says_how(worker):
    failed = started("failed")
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
    make_due(task)
    assert why(task) == "unknown_handler"
    nobody_is_alive()
    assert why(task) == "no_dispatcher"
    move_tasks([task], now() + timedelta(days=3), by())
    assert why(task) == "not_due"  # what it met once says nothing about then


def test_a_task_in_a_batch_of_many_runs_or_waits_for_its_turn(worker):
    batch = started("a", "b", "c")

    assert "batch of 3" in why_task(row(batch.tasks[2].id)).words


def test_a_job_whose_pause_has_ended_waits_for_a_beat_to_resume_it(worker):
    job = verbs.pause(make(every=60).id, by("rest"), until=now() + timedelta(hours=1)).job
    assert "within seconds" not in why_job(job).words
    job.paused_until = now() - timedelta(seconds=1)
    assert (why_job(job).rule, "within seconds" in why_job(job).words) == ("job_paused", True)
    nobody_is_alive()
    assert why_job(job).rule == "no_dispatcher"


def test_a_job_whose_schedule_can_not_be_read_any_more(worker):
    waiting, far = make("waiting", every=10), make("far", cron="0 3 1 1 *")
    JobDefinition.objects.update(timezone="Mars/Olympus")

    assert why_job(JobDefinition.objects.get(id=waiting.id)).rule == "not_due"  # one is planned already
    reason = why_job(JobDefinition.objects.get(id=far.id))
    assert reason.rule == "schedule_unreadable" and "Mars/Olympus" in reason.words


def test_a_job_whose_shard_nobody_plans(worker):
    job = make(cron="0 3 1 1 *")
    ShardLease.objects.filter(shard=job.shard).update(holder=None)

    assert why_job(job).rule == "shard_without_dispatcher"


def test_a_job_says_what_holds_it(worker):
    job = make(every=3600)
    assert why_job(job).rule == "not_due"
    nobody_is_alive()
    assert why_job(job).rule == "no_dispatcher"
    a_beat_is_alive()
    assert "not due until" in why_job(verbs.edit(job.id, {"every": 30}, by()).job).words
    paused = verbs.pause(job.id, by("too loud", "bob")).job
    assert why_job(paused).words == "Paused by bob: too loud."
    ended = make("ended", every=10, max_runs=1)
    make_due(instances(ended)[0].id)
    run_due()
    reason = why_job(JobDefinition.objects.get(id=ended.id))
    assert (reason.rule, reason.words) == ("ended", "No longer fires: it has had its 1 run.")
    gone = make("gone", cron="0 3 1 1 *")
    JobDefinition.objects.filter(id=gone.id).update(task_type="T_GONE")
    assert why_job(JobDefinition.objects.get(id=gone.id)).rule == "unknown_handler"


def test_a_reason_that_reads_like_another_rule_is_not_taken_for_it(worker):
    """The rule comes with the decision, and is not guessed from the sentence about it."""
    job = make(cron="0 3 1 1 *")
    assert state_of(job) == why_job(job)
    assert state_of(job).rule is Rule.NOT_DUE
    paused = verbs.pause(job.id, by("No longer fires")).job
    assert state_of(paused).rule is why_job(paused).rule is Rule.JOB_PAUSED
    job.timezone = "Mars/Olympus"
    assert state_of(job).rule is why_job(job).rule is Rule.SCHEDULE_UNREADABLE
    job.timezone, job.end_at = "UTC", now() - timedelta(days=1)
    assert state_of(job).rule is why_job(job).rule is Rule.ENDED


def told(*command: str) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


def test_the_commands_say_it(beat):
    job = make("report", cron="0 9 * * *", timezone="Europe/Berlin")
    task = schedule("T_QUIET", "a", delay=3600).task_id

    assert told("why", str(task)).startswith("not_due: ")
    assert told("why", str(job.id), "--job").startswith("not_due: Fires next on")
    for name in ("report", str(job.id)):
        lines = told("plan", "--preview", name).splitlines()
        assert lines[0] == "report: At 09:00 every day, Europe/Berlin time"
        assert len(lines) == 12 and all(" 09:00 CE" in line for line in lines[2:])
    assert told("plan") == "0 instances planned.\n"
    with pytest.raises(CommandError, match=r"^Task 99999 does not exist\.$"):
        told("why", "99999")
    with pytest.raises(CommandError, match=r"^Job 99999 does not exist\.$"):
        told("why", "99999", "--job")
    with pytest.raises(CommandError, match="no "):
        told("plan", "--preview", "nope")
    with pytest.raises(CommandError, match="no job"):
        told("plan", "--preview", "report", "--tenant", "acme")


def test_a_task_that_waits_for_others_names_them():
    family(a=["root"], b=["root"], last=["a", "b"])
    begun()
    root = tasks()["root"]

    assert why_task(tasks()["a"]) == (Rule.BLOCKED, f"It waits for 'root' (task {root.id}, INIT).", "")
    reason = why_task(tasks()["last"])
    assert reason.words == f"It waits for 'a' (task {tasks()['a'].id}, BLOCKED), 'b' (task {tasks()['b'].id}, BLOCKED)."


def test_a_task_whose_parent_failed_names_it_and_the_way_out():
    family(a=["root"])
    ends("root", "die")
    begun()
    run_due()
    root = tasks()["root"].id

    reason = why_task(tasks()["a"])

    assert reason.rule == Rule.PARENT_FAILED
    assert reason.words == (
        f"It waits for 'root', which gave up (task {root}: ASKED). Retry task {root}, or cancel this one."
    )
    assert why_job(job_named("a")).rule == Rule.PARENT_FAILED


def test_what_a_paused_job_holds_says_so():
    family(a=["root"])
    begun()
    verbs.pause(job_named("a").id, by("the target is down"))

    assert why_task(tasks()["a"]).rule == Rule.JOB_PAUSED


def test_a_job_with_parents_says_what_it_waits_for():
    family(a=["root"], b=["root"], last=["a", "b"], options={"last": {"when": "any_failed"}})

    assert state_of(job_named("a")).words == "Runs after 'root' has succeeded."
    assert state_of(job_named("last")).words == "Runs after one of 'a', 'b' has failed."

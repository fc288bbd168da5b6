"""What operators and handler authors use: status, pruning, chores, and the testing kit."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from tasks_app.client import schedule, schedule_many
from tasks_app.engine import nodes
from tasks_app.engine.maintenance import Maintenance
from tasks_app.engine.retention import prune
from tasks_app.engine.status import read_status
from tasks_app.models import DlqEntry, MaintenanceEntry, Node, OutboxEvent, ScheduleTask, TaskAttempt, TaskBatch
from tasks_app.testing import assert_not_scheduled, assert_scheduled, move_time, run_due
from tests.support.engine import claim_due, expire_lease, make_due, row

pytestmark = pytest.mark.django_db(transaction=True)


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def status_page(*options: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("scheduler_status", *options, stdout=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    return out.getvalue(), 0


@pytest.fixture
def fleet():
    beat = Maintenance(nodes.new_node_id(), "beat-1")
    beat.run_once()
    beat.wait_aside()
    nodes.report_worker(nodes.new_node_id(), "worker-1", 2, ["critical", "high", "default", "low", "backfill"])


def test_status_is_well_when_somebody_dispatches_and_works(fleet):
    page, code = status_page()

    assert code == 0
    assert "All is well" in page
    assert "beat-1" in page
    assert "worker-1" in page


def test_status_says_that_nobody_dispatches_and_nobody_works():
    page, code = status_page()

    assert code == 1
    assert "Nobody dispatches" in page
    assert "Nobody runs tasks" in page


def test_a_node_silent_for_too_long_is_not_live(fleet):
    execute("UPDATE node SET seen_at = now() - interval '1 minute'")

    assert not any(node.live for node in read_status().nodes)


def test_status_tells_a_lane_that_nobody_consumes(fleet):
    Node.objects.filter(kind=Node.WORKER).update(lanes=["default"])
    schedule("T_QUIET", "a", lane="critical")

    assert any("Nobody consumes lane 'critical'" in problem for problem in read_status().problems())


def test_status_counts_due_running_overdue_and_dead(fleet):
    overdue = schedule("T_QUIET", "overdue", lane="low")
    execute(f"UPDATE schedule_task SET due_at = now() - interval '1 hour' WHERE id = {overdue.task_id}")
    schedule("T_QUIET", "running", lane="high")
    claim_due(lanes=["high"])
    schedule("T_QUIET", "planned", delay=3600)

    status = json.loads(status_page("--json")[0])

    assert (status["due"], status["running"]) == (1, 1)
    assert 3590 < status["oldest_overdue_seconds"] < 3700
    assert any("has been waiting" in problem for problem in status["problems"])


def test_status_shows_how_late_tasks_started(fleet):
    schedule_many("T_QUIET", [{"key": n} for n in range(100)])
    run_due()

    late = read_status().lateness

    assert late.succeeded == 100
    assert 0 <= late.p50_ms <= late.p95_ms <= late.p99_ms


@pytest.fixture
def lost_batch():
    schedule("T_QUIET", "lost")
    [batch] = claim_due()
    expire_lease(batch)


def test_a_chore_is_done_by_one_beat_each_time_it_is_due(lost_batch):
    one, two = Maintenance(nodes.new_node_id(), "beat-1"), Maintenance(nodes.new_node_id(), "beat-2")

    first, second = one.run_once(), two.run_once()

    assert first == ["compensate", "prune", "reap", "rescue", "roll_up"]
    assert second == []
    one.wait_aside()
    MaintenanceEntry.objects.filter(name="prune").update(next_at="2020-01-01T00:00:00Z")
    assert two.run_once() == ["prune"]
    assert Node.objects.filter(kind=Node.BEAT).count() == 2


def test_a_reap_is_done_only_when_there_is_something_to_reap(lost_batch):
    beat = Maintenance(nodes.new_node_id(), "beat-1")
    assert "reap" in beat.run_once()
    assert TaskBatch.objects.get().reaped

    MaintenanceEntry.objects.filter(name="reap").update(next_at="2020-01-01T00:00:00Z")

    assert beat.run_once() == []
    assert MaintenanceEntry.objects.get(name="reap").next_at.year > 2020  # it was looked at all the same


def test_what_is_past_its_keep_is_pruned_and_nothing_else():
    old, fresh, planned = (
        schedule("T_QUIET", "old"),
        schedule("T_QUIET", "fresh"),
        schedule("T_QUIET", "planned", delay=60),
    )
    dead = schedule("T_QUIET", "dead", payload={"do": "die"})
    rolling = schedule("T_QUIET", "rolling", repeat_after=60)
    run_due()
    execute("UPDATE schedule_task SET updated_at = now() - interval '15 days' WHERE biz_key <> 'fresh'")
    execute("UPDATE task_batch SET finished_at = now() - interval '25 hours'")
    execute(f"UPDATE outbox_event SET created_at = now() - interval '8 days' WHERE task_id = {old.task_id}")

    pruned = prune()

    left = set(ScheduleTask.objects.values_list("id", flat=True))
    assert left == {fresh.task_id, planned.task_id, dead.task_id, rolling.task_id}
    assert (pruned.tasks, TaskBatch.objects.count()) == (1, 0)
    assert old.task_id not in OutboxEvent.objects.values_list("task_id", flat=True)
    assert OutboxEvent.objects.count() == 3


def test_a_dead_row_that_another_took_over_from_is_pruned():
    dead = schedule("T_QUIET", "a", payload={"do": "die"})
    run_due()
    newer = schedule("T_QUIET", "a", delay=60)
    execute("UPDATE schedule_task SET updated_at = now() - interval '15 days'")

    prune()

    assert set(ScheduleTask.objects.values_list("id", flat=True)) == {newer.task_id}
    assert dead.task_id != newer.task_id


def test_killed_processes_are_forgotten_in_time(fleet):
    execute("UPDATE node SET seen_at = now() - interval '2 hours' WHERE kind = 'BEAT'")

    assert prune().nodes == 1
    assert Node.objects.get().kind == Node.WORKER


def test_a_pruned_task_takes_its_attempts_along():
    task = schedule("T_PLAIN", "a", payload={"do": "retry_until", "attempt": 2})
    run_due()
    make_due(task.task_id)
    run_due()
    assert TaskAttempt.objects.count() == 1
    execute("UPDATE schedule_task SET updated_at = now() - interval '15 days'")

    prune()

    assert not ScheduleTask.objects.exists()
    assert not TaskAttempt.objects.exists()
    assert not DlqEntry.objects.exists()


def test_a_long_history_is_pruned_in_small_steps(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"PRUNE_STEP": 10}
    schedule_many("T_QUIET", [{"key": n} for n in range(95)])
    run_due()
    execute("UPDATE schedule_task SET updated_at = now() - interval '15 days'")

    pruned = sum(prune(steps=3).tasks for _ in range(6))

    assert pruned == 95


def test_the_testing_kit_runs_what_is_due_and_moves_time():
    schedule("T_PLAIN", "a", delay=3600)
    assert run_due() == 0
    assert_scheduled("T_PLAIN", "a")

    move_time(timedelta(hours=1, seconds=1))

    assert run_due() == 1
    assert_not_scheduled("T_PLAIN", "a")


def test_the_testing_kit_says_what_there_is_instead():
    task = schedule("T_PLAIN", "a", delay=3600, payload={"x": 1})

    with pytest.raises(AssertionError, match=r"never scheduled\. There is: T_PLAIN 'a'"):
        assert_scheduled("T_PLAIN", "b")
    with pytest.raises(AssertionError, match="not at"):
        assert_scheduled("T_PLAIN", "a", at=row(task.task_id).due_at + timedelta(minutes=1))
    with pytest.raises(AssertionError, match="has payload"):
        assert_scheduled("T_PLAIN", "a", payload={"x": 2})
    with pytest.raises(AssertionError, match="is due at"):
        assert_not_scheduled("T_PLAIN", "a")


@pytest.mark.django_db(transaction=False)
def test_the_testing_kit_works_inside_one_transaction():
    schedule("T_EFFECT", "a")

    assert run_due() == 1

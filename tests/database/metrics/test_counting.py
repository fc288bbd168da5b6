"""The chore `count`: what has ended is counted once, what is so now is written down, and names are bounded."""

from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.test import override_settings
from django.utils import timezone

from django_punctual import ToFunction, subscribe
from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.metrics import CATALOGUE, OTHER
from tasks_app.engine import nodes
from tasks_app.engine.beat import counting
from tasks_app.engine.beat.chores import CHORES, Chores
from tasks_app.engine.beat.counting import count
from tasks_app.engine.beat.quotas import count_again, count_used
from tasks_app.engine.operations.lanes import pause
from tasks_app.lifecycle import tenants
from tasks_app.lifecycle.away import Completed, Failed, complete, fail
from tasks_app.lifecycle.reap import reap
from tasks_app.models import Count, CountPass, Curb, DlqEntry, Node, QuotaUse, Safeguard, TaskBatch, Tenant
from tests.support.counting import begin, counted, histogram, of, sampled, value
from tests.support.engine import claim_due, expire_lease, run_due
from tests.support.jobs import make
from tests.support.marks import commits
from tests.support.moves import FINAL, OK, RETRY, away, dead, ids_of, scheduled, settled, started
from tests.support.operators import operator
from tests.support.outbox import subscribed

pytestmark = commits


def settings_with(**knobs: object) -> override_settings:
    return override_settings(PUNCTUAL=settings.PUNCTUAL | knobs)


def test_tries_are_counted_by_lane_type_and_outcome_and_only_once():
    begin()
    settled(started("a", "b", "c"), OK, OK, RETRY)
    settled(started("d", lane="low"))

    for _ in range(3):
        counted()

    assert of("runs") == {
        ("default", "T_QUIET", "ok"): 2,
        ("default", "T_QUIET", "failed"): 1,
        ("low", "T_QUIET", "ok"): 1,
    }
    assert of("batches") == {("default", "T_QUIET"): 1, ("low", "T_QUIET"): 1}
    settled(started("e"))
    counted()
    assert value("runs", "default", "T_QUIET", "ok") == 3


def test_what_is_reported_of_a_task_that_was_away_is_a_try_and_no_batch():
    begin()
    batch = away("a", "b")
    done, failed = ids_of(batch)
    complete(batch.batch_no, [(done, Completed())])
    fail(batch.batch_no, [(failed, Failed("NO_FILE", "not there"))])
    for _ in range(3):
        counted()

    assert of("runs") == {("default", "T_QUIET", "ok"): 1, ("default", "T_QUIET", "failed"): 1}
    assert of("batches") == {("default", "T_QUIET"): 1}


def test_what_has_just_ended_is_counted_later_since_another_may_not_have_committed():
    begin()
    settled(started("a"))

    count()
    assert of("runs") == {}
    counted()
    assert of("runs") == {("default", "T_QUIET", "ok"): 1}


def test_what_a_count_that_failed_has_added_is_gone_with_its_mark():
    begin()
    settled(started("a"))
    mark = CountPass.objects.get().counted_until
    with transaction.atomic():
        counted()
        assert value("runs", "default", "T_QUIET", "ok") == 1
        transaction.set_rollback(True)

    assert (of("runs"), CountPass.objects.get().counted_until) == ({}, mark)
    counted()
    assert value("runs", "default", "T_QUIET", "ok") == 1


def test_what_is_over_before_anybody_counts_is_not_counted():
    settled(started("a"))
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(hours=1))
    count()
    count()

    assert of("runs") == {}


def test_nobody_counts_a_day_of_batches_at_once():
    begin()
    settled(started("a"))
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(hours=2))
    CountPass.objects.update(counted_until=timezone.now() - timedelta(hours=3))
    count()

    assert of("runs") == {}
    assert CountPass.objects.get().counted_until > timezone.now() - timedelta(seconds=60)


def test_sizes_and_lateness_are_histograms_by_lane():
    begin()
    settled(started("a"))
    settled(started(*"bcdef"))
    scheduled("late")
    run_due()
    counted()
    settled(started("g"))
    counted()

    sizes = histogram("batch_tasks", "default")
    assert (sizes.buckets[:4], sizes.total) == ([3, 0, 1, 0], 8)
    late = histogram("lateness_seconds", "default")
    assert sum(late.buckets) == 1  # moves.settled tells of no lateness; a worker does
    assert late.total > 0


def test_a_lost_batch_is_counted():
    begin()
    scheduled("a")
    [batch] = claim_due()
    expire_lease(batch)
    assert len(reap()) == 1
    counted()

    assert of("batches_lost") == {("default", "T_QUIET"): 1}


def test_deaths_are_counted_by_type_and_by_tenant_though_they_are_replayed_at_once():
    begin()
    dead("a", "b")
    dead("c", tenant="acme")
    counted()  # sees how far they go
    DlqEntry.objects.update(replay_status="REPLAYED", closed_at=timezone.now())
    for _ in range(3):
        counted()

    assert of("dead_letters") == {("T_QUIET",): 3}
    assert of("tenant_dead_letters") == {("default",): 2, ("acme",): 1}
    assert value("open_dead_letters") == 0


def test_a_death_with_an_earlier_number_that_is_committed_later_is_counted():
    begin()
    a_letter(1_001)
    counted()  # sees how far they go
    a_letter(1_000)
    counted()

    assert of("dead_letters") == {("T_QUIET",): 2}


def a_letter(number: int) -> None:
    DlqEntry.objects.create(id=number, task_id=number, tenant="default", task_type="T_QUIET", error_code="E")


def test_what_waits_and_what_runs_is_told_as_it_is():
    settled(started("r1", "r2"), RETRY)
    dead("dead")
    away("away")
    started("running", "and running", lane="high")
    scheduled("claimed", lane="low")
    claim_due(lanes=["low"])
    scheduled("later", delay=3600)
    scheduled("now", "overdue")
    execute("UPDATE punctual_task SET due_at = now() - interval '1 min', created_at = due_at WHERE biz_key = 'overdue'")
    count()

    assert of("due_tasks") == dict.fromkeys([(lane,) for lane in LANES], 0) | {("default",): 2}
    assert value("overdue_tasks", "default") == 1
    assert 60 <= value("oldest_overdue_seconds", "default") < 600
    assert (value("claimed_tasks", "low"), value("claimed_batches", "low")) == (1, 1)
    assert of("running_tasks") == {("high", "T_QUIET"): 2}
    assert of("retrying_tasks") == {("T_QUIET",): 2}
    assert (value("away_tasks"), value("open_dead_letters")) == (1, 1)
    states = {"due": 2, "scheduled": 1, "running": 3, "retrying": 2, "away": 1}
    assert of("tasks") == {("T_QUIET", state): tasks for state, tasks in states.items()}
    assert of("tenant_tasks") == {("default", state): tasks for state, tasks in states.items()}
    assert value("counts_age_seconds") < 60 and value("count_duration_seconds") > 0


def test_more_than_can_be_counted_is_estimated(monkeypatch):
    monkeypatch.setattr(counting, "DUE_BOUND", 1)
    scheduled(*[f"k{n}" for n in range(200)])
    count()

    assert value("due_tasks", "default") == 200  # of a table this small the sample is all of it
    assert 0 < value("overdue_tasks", "default") + 1 <= 2 * conf().SHARDS + 1


def test_what_a_limit_holds_is_due_but_not_overdue():
    scheduled("a", "b", task_type="T_THREE")
    execute("UPDATE punctual_task SET due_at = now() - interval '1 min', created_at = due_at")
    count()

    assert (value("due_tasks", "default"), value("overdue_tasks", "default")) == (2, 0)
    assert value("oldest_overdue_seconds", "default") == 0


def test_types_and_tenants_beyond_their_number_are_other_and_other_never_shrinks():
    with settings_with(METRICS_TYPES=1, METRICS_TENANTS=1):
        begin()
        for key in ("a", "aa", "aaa"):
            settled(started(key))
        settled(started("b", task_type="T_PLAIN", tenant="acme"))
        dead("c", task_type="T_PLAIN", tenant="acme")
        for _ in range(2):
            counted()
        assert of("runs") == {
            ("default", "T_QUIET", "ok"): 3, ("default", OTHER, "ok"): 1, ("default", OTHER, "failed"): 1
        }  # fmt: skip
        assert set(of("tasks")) <= {("T_QUIET", "due"), (OTHER, "due")}

        for n in range(20):  # now the other one is larger
            settled(started(f"d{n}", task_type="T_PLAIN"))
        counted()
        before = value("runs", "default", OTHER, "ok")
        sampled()
        settled(started("e", task_type="T_PLAIN"))
        settled(started("f"))
        counted()

        assert value("runs", "default", "T_PLAIN", "ok") == 1
        assert value("runs", "default", OTHER, "ok") == before + 1
        assert ("default", "T_QUIET", "ok") not in of("runs")


def test_how_much_of_its_quotas_a_tenant_has_used_is_told_and_the_worst_of_all_others():
    for name, given in {
        "large": {"max_tasks": 8, "max_jobs": 8},
        "small": {"max_tasks": 10},
        "full": {"max_jobs": 0},
        "unbounded": {"max_payload_bytes": 10},
    }.items():
        tenants.create(name, operator(), **given)
    scheduled("a", "b", "c", tenant="large")
    scheduled("d", tenant="small")
    make("one of large", tenant="large")
    count()
    assert of("tenant_quota_share") == {(OTHER, "max_jobs"): 1.0}  # of 0 jobs; what was never counted is not told

    count_again()
    count_used()
    with settings_with(METRICS_TENANTS=1):
        sampled()
    tasks = Tenant.objects.get(name="large").tasks  # with those that the job has planned
    told = {("large", "max_tasks"): tasks / 8, ("large", "max_jobs"): 0.125}

    assert tasks >= 3
    QuotaUse.objects.create(tenant="small", quota="max_running", hour=timezone.now(), used=9, last=3, most=6)
    count()
    told |= {(OTHER, "max_running"): 0.5}  # what was last counted, not the most
    assert of("tenant_quota_share") == told | {(OTHER, "max_tasks"): 0.1, (OTHER, "max_jobs"): 1.0}


def test_subscriptions_lag_and_are_suspended(monkeypatch):
    monkeypatch.setattr(counting, "MOST_SUBSCRIPTIONS", 1)
    with subscribed():
        for name in ("first", "second", "third"):
            subscribe(name, events=["*"], to=ToFunction("test"))
        execute("UPDATE punctual_subscription SET state = 'SUSPENDED' WHERE name = 'third'")
        count()

    assert of("subscription_suspended") == {("first",): 0, (OTHER,): 1}
    assert of("subscription_lag_seconds") == {("first",): 0, (OTHER,): 0}


def test_the_fleet_is_told_as_it_is_though_no_beat_counts():
    nodes.report_worker(nodes.new_node_id(), "w1:7", 4, ["critical", "low"])
    gone = nodes.new_node_id()
    nodes.report_worker(gone, "gone:8", 2, ["low"])
    Node.objects.filter(node_id=gone).update(seen_at=timezone.now() - timedelta(hours=1))
    beat = Chores(nodes.new_node_id(), "b1:9")
    beat.run_once()
    beat.wait_aside()
    pause("low", reason="a test", by="olga")
    CountPass.objects.all().delete()

    assert of("nodes") == {("beat",): 1, ("worker",): 1}
    assert (value("slots", "low"), value("slots", "high")) == (4, 0)
    assert (value("lane_paused", "low"), value("lane_paused", "high")) == (1, 0)
    for node in (("worker", "w1:7"), ("beat", "b1:9")):
        assert value("process_cpu_seconds", *node) > 0
        assert value("process_memory_bytes", *node) > 1_000_000
    assert value("process_slots", "worker", "w1:7") == 4
    assert value("chore_age_seconds", "reap") < 60
    assert value("counts_age_seconds") is None


def test_what_safeguards_do_is_told_and_how_many_processes_are_wanted():
    nodes.report_worker(nodes.new_node_id(), "w1:7", 4, ["low"])
    Safeguard.objects.create(name="delay", subject="", stage=2)
    Curb.objects.create(name="delay", subject="", kind="lane", target="low", rate=0.0)
    count()

    assert (value("safeguard_stage", "delay"), value("safeguard_stage", "breaker")) == (2, 0)
    assert (value("curbs", "lane"), value("curbs", "host"), value("lane_paused", "low")) == (1, 0, 1)
    assert (value("slots_wanted"), value("dispatchers_wanted")) == (6, 1)


def test_one_beat_in_turn_counts_as_often_as_the_setting_says():
    [chore] = [one for one in CHORES if one.name == "count"]
    assert chore.every() == conf().METRICS_SECONDS

    with settings_with(METRICS_SECONDS=0):
        assert chore.every() == 0


def test_everything_that_is_kept_is_in_the_catalogue():
    begin()
    settled(started("a", "b", "c"), OK, RETRY, FINAL)
    counted()
    counted()

    shown = Count.objects.values_list("name", flat=True)
    assert {*shown} <= CATALOGUE.keys() and "dead_letters" in shown
    for name, values in {name: of(name) for name in CATALOGUE}.items():
        assert all(len(labels) == len(CATALOGUE[name].labels) for labels in values)


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)

"""What no event tells of: tasks that run too long, and trouble of the scheduler itself."""

from datetime import timedelta

import pytest
from django.db.models import F

from django_punctual import schedule_many
from tasks_app.engine.beat.alarms import looking
from tasks_app.engine.beat.alarms.looking import look as look_around
from tasks_app.lifecycle.alarms.incidents import calm_due, tell_due
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.start import start
from tasks_app.models import AlarmAlert, AlarmIncident, ScheduleTask, TaskBatch
from tests.support.alarms import hurry, kinds, rule, time_passes, titles
from tests.support.engine import claim_due, run_due
from tests.support.graphs import begun, ends, family, run_all
from tests.support.jobs import make

pytestmark = pytest.mark.django_db


def running(count: int = 1, seconds: float = 300, task_type: str = "T_QUIET", tenant: str | None = None) -> TaskBatch:
    """A batch that a worker started so long ago."""
    schedule_many(task_type, [{"key": f"{task_type} {tenant} {n}"} for n in range(count)], tenant=tenant)
    (claimed,) = claim_due()
    start(claimed.batch_no, worker="w")
    TaskBatch.objects.filter(batch_no=claimed.batch_no).update(started_at=F("started_at") - timedelta(seconds=seconds))
    return TaskBatch.objects.get(batch_no=claimed.batch_no)


def test_what_runs_longer_than_the_rule_says_is_told_and_so_is_that_it_has_ended():
    rule(conditions=("running",), running_seconds=120)
    batch = running(2)
    look_around()
    hurry()
    tell_due()
    assert titles() == ["2 tasks of T_QUIET have been running for up to 5 min"]

    TaskBatch.objects.filter(batch_no=batch.batch_no).update(finished_at=F("started_at"))
    time_passes(61)
    look_around()
    calm_due()
    assert kinds() == ["opened", "well"]


def test_what_runs_for_a_shorter_time_or_is_not_started_is_not_told():
    rule(conditions=("running",), running_seconds=400)
    running(1)
    schedule_many("T_PLAIN", [{"key": "waits"}])
    claim_due()
    TaskBatch.objects.filter(started_at__isnull=True).update(claimed_at=F("claimed_at") - timedelta(hours=1))
    look_around()
    assert not AlarmIncident.objects.exists()


def test_a_task_of_the_batch_that_is_done_or_taken_away_does_not_run_any_more():
    rule(conditions=("running",), running_seconds=120)
    batch = running(3)
    ScheduleTask.objects.filter(id=batch.ids[0]).update(status="CANCELLED", batch_no=None, ran_in=batch.batch_no)
    look_around()
    assert AlarmIncident.objects.get().count == 2


def test_each_rule_has_its_own_limit_tenant_and_job():
    job = make()
    rule("long", conditions=("running",), running_seconds=1_000)
    rule("acme", tenant="acme", conditions=("running",), running_seconds=60)
    rule("of the job", conditions=("running",), running_seconds=60, job=job.id)
    short = rule("short", conditions=("running",), running_seconds=200)
    running()
    look_around()
    assert list(AlarmIncident.objects.values_list("rule", flat=True)) == [short.id]


def test_without_such_a_rule_batches_are_not_looked_at(django_assert_num_queries, monkeypatch):
    monkeypatch.setitem(looking._looked_at, "trouble", -1e9)
    rule()
    running()
    with django_assert_num_queries(4):  # whether a rule wants to know, for each kind of look
        assert look_around() == 0


def test_trouble_of_the_scheduler_is_an_incident_for_each_rule_of_the_verdict(monkeypatch):
    monkeypatch.setitem(looking._looked_at, "trouble", -1e9)
    rule(tenant=None, conditions=("trouble",))
    look_around()  # there is no beat and no worker here

    causes = set(AlarmIncident.objects.values_list("cause", flat=True))
    assert {"no_dispatcher", "no_worker"} <= causes
    time_passes(61)
    tell_due()
    assert titles() == []  # nobody has looked whether it is still there

    monkeypatch.setitem(looking._looked_at, "trouble", -1e9)
    look_around()
    tell_due()
    assert any(title.startswith("Nothing is dispatched: no beat is alive.") for title in titles())


def test_the_scheduler_is_looked_at_once_in_a_while_and_only_if_somebody_wants_to_know(monkeypatch):
    looked = []
    monkeypatch.setattr(looking, "LOOKS", [lambda: looked.append(1) or []])
    monkeypatch.setitem(looking._looked_at, "trouble", -1e9)
    rule()
    look_around()
    assert looked == []
    rule("trouble", tenant=None, conditions=("trouble",))
    look_around()
    look_around()
    assert looked == [1]


def test_what_waits_for_a_task_that_failed_is_one_incident_that_lists_all_of_it():
    rule(conditions=("blocked",))
    family(a=["root"], b=["a"], c=["a"], tidy=["b", "c"], options={"tidy": {"when": "all_done"}})
    ends("root", "die")
    begun()
    begun(key="other")
    run_all()

    look_around()
    hurry()
    tell_due()

    assert sorted(titles()) == ["4 tasks wait for 'root', which gave up"] * 2
    [one, _] = AlarmIncident.objects.order_by("id")
    assert one.sample["waiting"] == ["a", "b", "c", "tidy"]
    assert "Waiting: a, b, c, tidy." in AlarmAlert.objects.order_by("id")[0].body["text"]

    for task in ScheduleTask.objects.filter(status="DEAD"):
        ScheduleTask.objects.filter(id=task.id).update(payload={})
        replay([task.id], "olga")
    run_all()
    time_passes(61)
    look_around()
    calm_due()
    assert not AlarmIncident.objects.filter(closed_at__isnull=True).exists()


def test_what_waits_by_another_rule_or_for_one_that_is_tried_again_is_nobodys_alarm():
    rule(conditions=("blocked",))
    family(a=["root"], slow=["root"], tidy=["a", "slow"], options={"tidy": {"when": "all_done"}})
    ends("a", "die")
    ends("slow", "retry")
    begun()
    run_due()
    run_due()

    look_around()

    assert not AlarmIncident.objects.exists()

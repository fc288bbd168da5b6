"""Curbs are a layer of their own: the strictest of them and of what others have set holds, and that comes back."""

import time
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from django_punctual import schedule_many
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.core.service_levels import MINUTE
from tasks_app.engine.beat.levels import keep_levels
from tasks_app.engine.canary import send_canaries
from tasks_app.engine.doctor.whole import broken_rules
from tasks_app.engine.operations import lanes
from tasks_app.engine.operations.safeguards import force
from tasks_app.engine.watch.alive import what_delays
from tasks_app.engine.watch.fleet_status import pauses
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.claim import set_retries_aside
from tasks_app.lifecycle.limited import Wanted, claim_limited, declare_limits, gate_rules, limits
from tasks_app.models import Curb, LanePause, LaneResume, ScheduleTask, ServiceMinute, TaskBatch, TypeLimit
from tests.support.engine import claim_due, make_due, row, run_due
from tests.support.levels import measured
from tests.support.live import a_beat_is_alive
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.safeguards import PATIENT, Beat, look, many, sizes, watched

pytestmark = commits


@pytest.fixture(autouse=True)
def _watched(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | PATIENT
    watched()


@pytest.fixture
def beat():
    one = Beat()
    yield one
    one.close()


def curb(kind: str, target: str, **figures) -> None:
    Curb.objects.create(name="delay", subject="", kind=kind, target=target, **figures)
    TypeLimit.objects.get_or_create(task_type=target) if kind in ("type", "retries") else None


def test_a_lane_that_an_operator_paused_stays_paused_when_the_curb_goes(beat):
    lanes.pause("low", reason="the warehouse is down", by="ana")
    curb("lane", "low", rate=0.0)
    many("T_QUIET", 3, lane="low")
    Curb.objects.all().delete()

    assert sizes(beat.dispatch(), "lane") == {}
    assert LanePause.objects.get().paused_by == "ana"

    lanes.resume("low", reason="it is up again", by="ana")
    assert sizes(beat.dispatch(), "lane") == {"low": 3}


def test_an_operator_who_resumes_a_lane_does_not_let_go_what_a_safeguard_holds(beat):
    lanes.pause("low", reason="the warehouse is down", by="ana")
    curb("lane", "low", rate=0.0)
    many("T_QUIET", 3, lane="low")
    lanes.resume("low", reason="it is up again", by="ana")

    assert sizes(beat.dispatch(), "lane") == {}


@pytest.mark.parametrize(
    ("figures", "allowed"),
    [({"max_running": 1}, 1), ({"max_running": 9}, 3), ({"max_running": 0}, 0), ({"rate": 1.0}, 1)],
)
def test_the_stricter_of_a_limit_and_a_curb_holds_and_the_limit_comes_back(figures, allowed):
    declare_limits(REGISTRY)
    declared = limits()["T_THREE"]
    many("T_THREE", 10)
    curb("type", "T_THREE", **figures)
    TypeLimit.objects.filter(task_type="T_THREE").update(permits=50)

    granted = claim_limited([Wanted("T_THREE", "default", 10)], {"T_THREE": 1}, "test")["T_THREE"]
    assert granted.tasks == allowed
    assert gate_rules().metered >= {"T_THREE"}

    Curb.objects.all().delete()
    assert (gate_rules().limits["T_THREE"], limits()["T_THREE"]) == (declared, declared)


def test_of_two_curbs_the_stricter_holds():
    curb("lane", "low", rate=5.0)
    Curb.objects.create(name="profile", subject="", kind="lane", target="low", rate=2.0)

    assert gate_rules().lanes == {"low": 2.0}


def test_a_type_with_a_limit_of_its_own_is_left_to_it_when_retries_are_slowed():
    declare_limits(REGISTRY)
    curb("retries", "T_RATED", rate=0.1)

    rules = gate_rules()

    assert (rules.limits["T_RATED"].rate, "T_RATED" in rules.retries) == (100.0, False)


def test_of_a_curb_on_a_type_and_one_on_its_retries_the_one_on_the_type_counts_for_all():
    curb("retries", "T_QUIET", rate=0.1)
    Curb.objects.create(name="breaker", subject="T_QUIET", kind="type", target="T_QUIET", rate=10.0, max_running=10)
    TypeLimit.objects.update(permits=10.0, filled_at=Now())
    many("T_QUIET", 6)
    ScheduleTask.objects.update(limited=True)

    granted = claim_limited([Wanted("T_QUIET", "default", 10)], {}, "test")["T_QUIET"]

    assert (gate_rules().limits["T_QUIET"].rate, granted.allowed, granted.tasks) == (10.0, 10, 6)


def test_a_slowed_lane_gets_its_rate_and_no_more(beat):
    curb("lane", "low", rate=20.0)
    many("T_QUIET", 500, lane="low")
    assert sizes(beat.dispatch(looks=2), "lane") == {}
    began, given = time.monotonic(), 0

    for _ in range(10):
        given += sizes(beat.dispatch(looks=2, seconds=1.0), "lane")["low"]
        TaskBatch.objects.update(started_at=Now())  # there is room again

    # What it takes to ask all shards alike is made up for.
    assert 150 <= given <= 20 * (10 + time.monotonic() - began) + 16 + 1


def test_retries_are_put_aside_from_a_batch_and_the_rest_of_it_runs():
    schedule_many("T_QUIET", [{"key": n, "payload": {"do": "retry", "after": 3600}} for n in range(3)])
    run_due()
    failed = list(ScheduleTask.objects.values_list("id", flat=True))
    make_due(*failed)
    first = many("T_QUIET", 2)
    [batch] = claim_due()
    assert batch.size == 5

    left = set_retries_aside([batch.batch_no])

    assert left == {batch.batch_no: 2}
    assert {(row(one).status, row(one).limited, row(one).attempt, row(one).due_at is not None) for one in failed} == {
        ("FAIL", True, 1, True)
    }
    assert TaskBatch.objects.get(batch_no=batch.batch_no).ids == first
    assert broken_rules() == []


def test_a_batch_of_retries_alone_is_finished():
    schedule_many("T_QUIET", [{"key": "a", "payload": {"do": "retry", "after": 3600}}])
    run_due()
    make_due(*ScheduleTask.objects.values_list("id", flat=True))
    [batch] = claim_due()

    assert set_retries_aside([batch.batch_no]) == {batch.batch_no: 0}
    assert TaskBatch.objects.get(batch_no=batch.batch_no).finished_at is not None
    assert set_retries_aside([batch.batch_no]) == {}


def test_a_batch_that_was_started_keeps_its_retries():
    schedule_many("T_QUIET", [{"key": "a", "payload": {"do": "retry", "after": 3600}}])
    run_due()
    make_due(*ScheduleTask.objects.values_list("id", flat=True))
    [batch] = claim_due()
    TaskBatch.objects.filter(batch_no=batch.batch_no).update(started_at="2026-01-01T00:00:00Z")

    assert set_retries_aside([batch.batch_no]) == {}
    assert ScheduleTask.objects.get().status == "RUNNING"


def test_what_was_put_aside_is_given_out_when_nothing_slows_it_any_more(beat):
    schedule_many("T_QUIET", [{"key": n, "payload": {"do": "retry", "after": 3600}} for n in range(10)])
    run_due()
    failed = ScheduleTask.objects.all()
    make_due(*failed.values_list("id", flat=True))
    curb("retries", "T_QUIET", rate=0.1)
    beat.dispatch()
    assert failed.filter(status="FAIL", limited=True).count() >= 9

    Curb.objects.all().delete()
    beat.dispatch()
    assert failed.filter(status="RUNNING").count() == 10


def test_a_lane_that_a_safeguard_holds_is_not_down(beat, settings):
    """Its canary is not given out, so it can't come back; that is the safeguard's doing, and no outage."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}
    ends = (timezone.now() - timedelta(seconds=10)).replace(second=0, microsecond=0)
    send_canaries()
    ScheduleTask.objects.update(created_at=ends - timedelta(hours=1))
    measured(ends - 2 * MINUTE, served=sorted(LANES))
    curb("lane", "low", rate=0.0)
    Curb.objects.update(since=ends - timedelta(hours=1))

    given = sizes(beat.dispatch(), "lane")
    assert given == dict.fromkeys(set(LANES) - {"low"}, 1)
    [one, *_] = TaskBatch.objects.all()
    moments = [ends - n * timedelta(seconds=10) for n in range(14)]
    TaskBatch.objects.bulk_create(_copy(one, lane, at) for lane in given for at in moments)
    keep_levels()

    last = ServiceMinute.objects.get(minute=ends - MINUTE)
    assert (last.state, last.paused, last.down, last.served) == ("UP", ["low"], [], sorted(given))


def _copy(batch: TaskBatch, lane: str, at: datetime) -> TaskBatch:
    """A batch as this one, of another lane, that has come back."""
    same = {"task_type": batch.task_type, "ids": batch.ids, "dispatcher": batch.dispatcher}
    moments = dict.fromkeys(("claimed_at", "lease_until", "started_at", "finished_at"), at)
    return TaskBatch(batch_no=uuid4(), lane=lane, ok=1, lateness=[1], **same, **moments)


def test_why_names_the_safeguard():
    [low] = many("T_QUIET", 1, lane="low")
    [held] = many("T_PLAIN", 1)
    ScheduleTask.objects.filter(id=held).update(limited=True)
    curb("lane", "low", rate=0.0)
    curb("type", "T_PLAIN", max_running=0)

    assert "has been paused" in why_task(row(low)).words and "safeguard delay" in why_task(row(low)).words
    assert why_task(row(held)).rule in ("type_held", "no_dispatcher")
    assert LaneResume.objects.count() == 0


def test_why_and_what_delays_name_the_safeguard_of_degraded_mode():
    a_beat_is_alive()
    force("dead_letters", operator())
    look()
    [held] = many("T_QUIET", 1)
    [urgent] = many("T_QUIET", 1, lane="critical")

    reason = why_task(row(held))

    assert reason.rule == "lane_held"
    assert reason.words.endswith(
        "by safeguard dead_letters: too many tasks give up. `manage.py rules end dead_letters` ends it."
    )
    assert reason.outside.endswith("by safeguard dead_letters: too many tasks give up.")
    assert why_task(row(urgent)).rule == "about_to_run"
    assert what_delays("default") == "the lane 'default' is paused by safeguard dead_letters (too many tasks give up)"
    assert what_delays("critical") == ""


def test_a_safeguard_that_slows_retries_or_holds_another_tenant_is_not_named_for_a_first_try():
    a_beat_is_alive()
    [first] = many("T_PLAIN", 1)
    ScheduleTask.objects.filter(id=first).update(limited=True)
    curb("retries", "T_PLAIN", rate=1.0)
    curb("type", "T_PLAIN", max_running=0, of_tenant="acme")
    declare_limits(REGISTRY)

    assert why_task(row(first)).rule == "about_to_run"

    ScheduleTask.objects.filter(id=first).update(attempt=1)
    assert "retries of T_PLAIN are slowed" in why_task(row(first)).words


@pytest.mark.parametrize("names", [("delay", "recovery"), ("recovery", "delay")])
def test_of_two_that_hold_a_lane_the_stricter_one_is_told(names):
    for name in names:
        Curb.objects.create(name=name, subject="2026", kind="lane", target="low", rate=5.0 if name == "delay" else None)

    assert pauses()["low"].reason == "incident 2026"

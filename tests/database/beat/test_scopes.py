"""One tenant's failures hold back that tenant alone: breakers by tenant and type, their trials, and whole types."""

from collections import Counter
from datetime import timedelta
from uuid import UUID

import pytest
from django.db.models.functions import Now

from django_punctual import schedule_many
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.hosts import HOST_UNWELL
from tasks_app.core.scopes import HELD_BACK, Scope, scope_of, target_of
from tasks_app.engine.beat.safeguards import pulse
from tasks_app.engine.operations.safeguards import end, force
from tasks_app.engine.watch.why import why_task
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.start import start
from tasks_app.models import Curb, CurbPermit, Safeguard, ScheduleTask, ScopeMinute, ScopeOutcome, TaskBatch, TypeLimit
from tests.support.engine import claim_due, make_due, row, run_due
from tests.support.live import a_beat_is_alive
from tests.support.marks import commits
from tests.support.moves import FINAL, away, settled
from tests.support.operators import operator
from tests.support.receiver import HERE, Reply, receiver
from tests.support.safeguards import PATIENT, Beat, look, many, ran, watched

pytestmark = commits
ACME = "tenant:acme/T_PLAIN"


@pytest.fixture(autouse=True)
def _watched(settings, monkeypatch):
    settings.PUNCTUAL = settings.PUNCTUAL | PATIENT
    monkeypatch.setattr(pulse, "SETTLED_SECONDS", 0.0)
    watched()


@pytest.fixture
def beat():
    one = Beat()
    yield one
    one.close()


def on() -> dict[tuple[str, str], int]:
    return {(row.name, row.subject): row.stage for row in Safeguard.objects.filter(stage__gt=0)}


def opened(*tenants: str) -> None:
    """The breaker of T_PLAIN is open for these tenants, and a trial may begin."""
    for tenant in tenants:
        ran("T_PLAIN", failed=20, tenant=tenant)
    look()
    Curb.objects.update(filled_at=Now() - timedelta(seconds=60))


def run_given(beat: Beat) -> Counter[str]:
    """What may run now runs. Returns the tenants whose handlers were called."""
    before = set(_called())
    beat.dispatch()
    for batch in TaskBatch.objects.filter(started_at__isnull=True, finished_at__isnull=True):
        run_batch(batch.batch_no, guarded=False)
    return Counter(tenant for _, tenant in set(_called()) - before)


def _called() -> list[tuple[tuple, str]]:
    rows = ScheduleTask.objects.filter(finish_time__isnull=False)
    return [((row.id, row.attempt, row.finish_time), row.tenant) for row in rows]


@pytest.mark.parametrize("target", ["T_PLAIN", "host:a.example.com:8443", "*"])
def test_a_subject_names_its_scope(target):
    scope = Scope("acme/eu", target)

    assert (scope_of(scope.subject), target_of(scope.subject)) == (scope, target)
    assert (scope_of(target), target_of(target)) == (None, target)
    assert scope_of("tenant:acme") is None


def test_the_failures_of_one_tenant_delay_no_task_of_another(beat):
    opened("acme")
    assert on() == {("breaker", ACME): 2}

    many("T_PLAIN", 10, tenant="acme")
    many("T_PLAIN", 10, tenant="beta")
    assert run_given(beat) == {"acme": 1, "beta": 10}
    assert ScheduleTask.objects.filter(error_code=HELD_BACK, tenant="acme", due_at__gt=Now()).count() == 9


def test_a_batch_of_both_is_split(beat):
    opened("acme")
    tasks = [{"key": str(n)} for n in range(3)]
    schedule_many("T_PLAIN", tasks, tenant="acme")
    schedule_many("T_PLAIN", tasks, tenant="beta")
    [batch] = claim_due()

    begun = start(UUID(batch.batch_no), "worker")

    assert sorted(task.tenant for task in begun.tasks) == ["acme", "beta", "beta", "beta"]
    assert [(task.tenant, outcome.code) for task, outcome in begun.ended] == [("acme", HELD_BACK)] * 2
    assert [permit.tasks for permit in CurbPermit.objects.all()] == [1]


def test_what_was_sent_back_is_due_at_once_when_nothing_holds_it_any_more(beat):
    opened("acme")
    ids = many("T_PLAIN", 5, tenant="acme")
    run_given(beat)
    end("breaker", operator(), subject="T_PLAIN")
    look()

    assert run_given(beat) == {"acme": 4}
    assert not ScheduleTask.objects.filter(id__in=ids, error_code=HELD_BACK).exists()


def test_why_names_the_safeguard_that_sends_a_task_back(beat):
    opened("acme")
    ids = many("T_PLAIN", 2, tenant="acme")
    run_given(beat)
    held = ScheduleTask.objects.get(id__in=ids, error_code=HELD_BACK)

    reason = why_task(held)

    assert reason.words.startswith("Safeguard breaker holds it back: for tenant acme: type T_PLAIN runs one task")
    assert "It asks again at" in reason.words
    assert "`manage.py rules end breaker tenant:acme/T_PLAIN` ends that." in reason.words
    assert "Safeguard breaker" in reason.outside and "manage.py" not in reason.outside

    Curb.objects.all().delete()
    assert why_task(held).words.startswith("A safeguard held it back, and is off now. It asks again at")


def test_why_names_the_safeguard_that_holds_a_whole_tenant_before_and_after_a_worker_sends_a_task_back(beat):
    a_beat_is_alive()
    force("dead_letters", operator(), subject="tenant:acme/*")
    look()
    [held] = many("T_PLAIN", 1, tenant="acme")
    [urgent] = many("T_PLAIN", 1, tenant="acme", lane="critical")
    [other] = many("T_PLAIN", 1, tenant="beta")
    words = "Safeguard dead_letters holds it back: for tenant acme: all tasks are held, except in lane critical."

    reason = why_task(row(held))
    assert (reason.rule, reason.outside) == ("type_held", words)
    assert why_task(row(urgent)).rule == why_task(row(other)).rule == "about_to_run"

    run_given(beat)
    assert row(held).error_code == HELD_BACK
    assert why_task(row(held)).words.startswith(f"{words} It asks again at")


def test_why_names_the_safeguard_that_holds_a_host(beat):
    force("dead_letters", operator(), subject="tenant:default/host:a.example.com:8443")
    look()
    [held] = schedule_many(HTTP_CALLBACK, [{"key": "a", "payload": {"url": "https://a.example.com:8443/", "sign": ""}}])
    waits = {"error_code": HOST_UNWELL, "error_msg": "it waits", "due_at": Now() + timedelta(seconds=60)}
    ScheduleTask.objects.filter(id=held.task_id).update(**waits)

    reason = why_task(row(held.task_id))

    assert reason.rule == "host_unwell"
    held_by = "Safeguard dead_letters holds it back: for tenant default: calls of a.example.com:8443 wait."
    assert reason.words.startswith(held_by)


def test_a_trial_that_runs_keeps_the_place_and_one_that_went_away_gives_it_back(beat):
    opened("acme")
    schedule_many("T_PLAIN", [{"key": "slow"}], tenant="acme")
    [batch] = claim_due()
    start(UUID(batch.batch_no), "worker")
    Curb.objects.update(filled_at=Now() - timedelta(seconds=60))
    [next_one] = many("T_PLAIN", 1, tenant="acme")
    assert run_given(beat) == {}

    TaskBatch.objects.filter(batch_no=batch.batch_no).update(finished_at=Now())  # as when its task goes away
    Curb.objects.update(filled_at=Now() - timedelta(seconds=60))
    make_due(next_one)
    assert run_given(beat) == {"acme": 1}


def test_an_away_task_holds_no_place_of_a_whole_types_breaker(beat):
    away("there for a day")
    force("breaker", operator(), subject="T_QUIET")
    look()
    many("T_QUIET", 2)
    _refill_types()

    assert run_given(beat) == {"default": 1}


def test_a_replay_that_succeeds_is_a_trial(beat):
    opened("acme")
    for _ in range(3):
        many("T_PLAIN", 1, tenant="acme", lane="backfill")
        Curb.objects.update(filled_at=Now() - timedelta(seconds=60))
        assert run_given(beat) == {"acme": 1}
        look()
    look(31)

    assert on() == {("breaker", ACME): 1}


def test_replays_that_fail_open_nothing(beat):
    ran("T_PLAIN", failed=40, tenant="acme", lane="backfill")
    look()

    assert (on(), ScopeMinute.objects.count(), ScopeOutcome.objects.count()) == ({}, 0, 0)


def test_a_type_that_succeeds_for_no_tenant_is_tried_for_all_until_one_succeeds(beat):
    opened("acme", "beta")
    look()
    assert on() == {("breaker", ACME): 2, ("breaker", "tenant:beta/T_PLAIN"): 2, ("breaker", "T_PLAIN"): 2}

    many("T_PLAIN", 5, tenant="gamma")
    _refill_types()
    assert run_given(beat) == {"gamma": 1}
    look()
    assert on() == {("breaker", ACME): 2, ("breaker", "tenant:beta/T_PLAIN"): 2}
    assert run_given(beat) == {"gamma": 4}


def test_a_type_that_succeeds_for_one_tenant_is_not_held(beat):
    ran("T_PLAIN", ok=3, tenant="gamma")
    opened("acme", "beta")
    look()

    assert on() == {("breaker", ACME): 2, ("breaker", "tenant:beta/T_PLAIN"): 2}


def test_callbacks_that_fail_hold_back_no_other_callback():
    payload = {"url": "https://api.example.com/x", "sign": ""}
    schedule_many(HTTP_CALLBACK, [{"key": n, "payload": payload} for n in range(40)])
    for batch in claim_due():
        settled(start(UUID(batch.batch_no), "worker"), FINAL)
    look()
    look(60)

    assert (on(), Curb.objects.count()) == ({}, 0)


def test_calls_that_fail_slow_the_retries_of_that_tenant_to_that_host(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE, "HOST_FAILURES": 1_000}
    with receiver() as failing, receiver() as healthy:
        failing.reply = lambda call: Reply(500)
        for there, tenant, number in ((healthy, "acme", 20), (failing, "acme", 250), (healthy, "beta", 5)):
            payload = {"url": there.url, "sign": ""}
            tasks = [{"key": f"{there.url} {n}", "payload": payload} for n in range(number)]
            schedule_many(HTTP_CALLBACK, tasks, tenant=tenant)
        run_due()
        subject = f"tenant:acme/host:{failing.url.split('/')[2]}"
        look()
        look(60)
        assert on() == {("failures", subject): 1}

        make_due(*ScheduleTask.objects.filter(status="FAIL").values_list("id", flat=True))
        Curb.objects.update(rate=5.0, permits=0.0, filled_at=Now())
        before = len(failing.calls)
        schedule_many(HTTP_CALLBACK, [{"key": "new", "payload": {"url": failing.url, "sign": ""}}], tenant="acme")
        schedule_many(HTTP_CALLBACK, [{"key": "new", "payload": {"url": failing.url, "sign": ""}}], tenant="beta")
        run_due()

        assert 2 <= len(failing.calls) - before < 50  # what is no retry, and what the rate lets through
        assert ScheduleTask.objects.filter(error_code=HELD_BACK, due_at__gt=Now()).count() > 200


def test_successes_before_the_first_failure_count():
    """One failure among many small batches is not one try that failed."""
    for _ in range(3):
        ran("T_PLAIN", ok=20, tenant="acme")
    ran("T_PLAIN", failed=20, tenant="acme")
    look()

    assert on() == {}
    assert [(one.tenant, one.ok, one.failed) for one in ScopeMinute.objects.all()] == [("acme", 60, 20)]


def test_a_type_that_never_fails_leaves_nothing_behind():
    ran("T_PLAIN", ok=50, tenant="acme")
    assert ScopeOutcome.objects.count() == 0

    ran("T_PLAIN", failed=1, tenant="beta")
    look()
    ran("T_PLAIN", ok=5, tenant="acme")
    look()

    assert [(one.tenant, one.ok, one.failed) for one in ScopeMinute.objects.all()] == [("beta", 0, 1)]


def _refill_types() -> None:
    TypeLimit.objects.update(filled_at=Now() - timedelta(seconds=60))

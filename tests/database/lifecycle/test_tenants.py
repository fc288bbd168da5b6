"""Tenants: suspended, nothing of them is started or planned; resumed, what came due goes on; and what they may have."""

import json
from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_punctual import cancel, reschedule, schedule, schedule_many
from django_punctual.rolling import change_interval
from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, NameTaken, NothingToDo, NotThere, QuotaExceeded, StaleRevision
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.tenants import checked_quotas, checked_weight
from tasks_app.engine.beat import quotas as counting
from tasks_app.engine.beat import tenants as chore
from tasks_app.engine.beat.alarms.looking import quotas
from tasks_app.engine.beat.counting import count
from tasks_app.engine.beat.gates import Gates
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.beat.quotas import count_again, count_running, count_scheduled, count_used, note_use
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.engine.watch.tenants import use_of
from tasks_app.engine.watch.why import why_job, why_task
from tasks_app.lifecycle import tenant_defaults, tenants
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.limited import Wanted, claim_limited, declare_limits, gate_rules
from tasks_app.lifecycle.past import move_batches, retention_of
from tasks_app.lifecycle.start import start
from tasks_app.models import HeldTask, PastTask, QuotaUse, ScheduleCount, ScheduleTask, TaskBatch, Tenant
from tasks_app.pages.links import console_url
from tasks_app.sql import execute, run
from tests.support.alarms import rule
from tests.support.audit import deeds
from tests.support.engine import claim_due, row, run_due
from tests.support.events import told
from tests.support.jobs import instances, make, time_passes
from tests.support.moves import TUESDAY, TYPE, State, away, claimed, scheduled, settled, started, state
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def suspend(name: str = "acme", **how: object) -> None:
    tenants.suspend(name, operator("the invoice is open"), **how)


def resume(name: str = "acme") -> None:
    tenants.resume(name, operator())


def done() -> list[tuple]:
    return list(deeds().order_by("id").values_list("actor", "verb", "subject", "outcome"))


def printed(*words: str, **options: object) -> str:
    out = StringIO()
    call_command("tenant", *words, stdout=out, **options)
    return out.getvalue()


@pytest.fixture(autouse=True)
def _not_stopped():
    """As the beats of other tests may have left it."""
    chore._stopped.clear()


# Suspending and resuming.


def test_what_comes_due_of_a_suspended_tenant_is_put_aside_and_goes_on_when_it_is_resumed():
    [theirs] = scheduled("theirs", tenant="acme")
    [ours] = scheduled("ours")
    was_due = row(theirs).due_at
    suspend()

    run_due()

    assert (state(ours).status, state(theirs)) == ("SUCCESS", State("INIT", due=True))
    assert (row(theirs).due_at.year, HeldTask.objects.get().due_at) == (9000, was_due)
    assert claim_due() == [] and chore.put_back() == 0

    resume()
    assert chore.put_back() == 1
    assert (row(theirs).due_at, HeldTask.objects.count()) == (was_due, 0)
    assert row(theirs).allowed_at > was_due  # it is not late before it could run
    run_due()
    assert state(theirs).status == "SUCCESS"


def test_a_batch_of_both_runs_for_the_one_and_not_for_the_other():
    number = claimed("a", "b")
    ScheduleTask.objects.filter(biz_key="b").update(tenant="acme")
    suspend()

    batch = start(number, "worker")

    assert [task.key for task in batch.tasks] == ["a"]
    assert settled(batch) == 1
    assert TaskBatch.objects.get().finished_at is not None


def test_a_batch_of_which_nothing_is_left_is_finished():
    number = claimed("a", tenant="acme")
    suspend()

    assert start(number, "worker").tasks == []
    assert TaskBatch.objects.get().finished_at is not None


def test_what_runs_goes_on_to_its_end():
    batch = started("a", tenant="acme")
    suspend()

    assert settled(batch) == 1
    assert ScheduleTask.objects.get().status == "SUCCESS"


def test_a_retry_that_was_put_aside_is_a_retry_afterwards():
    [task] = scheduled("a", tenant="acme")
    ScheduleTask.objects.update(attempt=2, status="FAIL")
    suspend()

    run_due()
    resume()
    chore.put_back()

    assert state(task) == State("FAIL", due=True, attempt=2)


def test_what_was_moved_or_cancelled_meanwhile_is_left_as_it_is():
    moved, gone = scheduled("moved", "gone", tenant="acme")
    suspend()
    run_due()

    reschedule(TYPE, "moved", at=TUESDAY, tenant="acme")
    cancel(TYPE, "gone", tenant="acme")
    resume()

    assert chore.put_back() == 0
    assert (row(moved).due_at, state(gone).status, HeldTask.objects.count()) == (TUESDAY, "CANCELLED", 0)


@pytest.mark.parametrize("interval", [30, 3_600])
def test_another_interval_leaves_what_lies_aside_where_it_is(interval):
    [task] = scheduled("a", tenant="acme", repeat_after=60)
    was_due = row(task).due_at
    suspend()
    run_due()

    assert change_interval(TYPE, ["a"], interval, tenant="acme") == 1
    resume()

    assert (chore.put_back(), row(task).due_at) == (1, was_due)


def test_what_has_expired_meanwhile_does_not_run():
    [task] = scheduled("a", tenant="acme", expires_after=60)
    suspend()
    run_due()
    execute("UPDATE punctual_task SET execute_time = execute_time - interval '1 hour'")

    resume()
    chore.put_back()
    run_due()

    assert (state(task).status, row(task).error_code) == ("CANCELLED", "EXPIRED")


def test_of_a_type_with_a_limit_a_suspended_tenant_takes_nothing_from_others():
    declare_limits(REGISTRY)
    schedule_many("T_SERIAL", [{"key": n} for n in range(3)], tenant="acme")
    schedule_many("T_SERIAL", [{"key": "ours"}])
    suspend()

    granted = claim_limited([Wanted("T_SERIAL", "default", 10)], {"T_SERIAL": 1}, "test", ["acme"])["T_SERIAL"]

    assert granted.tasks == 1
    assert [ScheduleTask.objects.get(id=id_).biz_key for id_ in TaskBatch.objects.get().ids] == ["ours"]
    assert HeldTask.objects.count() == 0


def test_what_is_due_of_a_suspended_tenant_is_put_aside_once_for_each_reading_of_the_rules(monkeypatch):
    monkeypatch.setattr("tasks_app.engine.beat.gates.HEAD", 3)
    monkeypatch.setattr("tasks_app.lifecycle.held.HEAD", 3)
    schedule_many("T_SERIAL", [{"key": n} for n in range(5)], tenant="acme")
    schedule_many("T_SERIAL", [{"key": "ours"}])
    suspend()
    gates = Gates("test")
    shards = dict.fromkeys(range(conf().SHARDS))
    assert "T_SERIAL" in gates.types(shards, conf().SHARDS)
    gates.saw({("T_SERIAL", "default"): 0.0})

    def held() -> int:
        gates._opens.clear()  # as if a moment had passed
        gates.claim({"default": 5}, 2, 1.0, {})
        return HeldTask.objects.count()

    assert [held() for _ in range(2)] == [3, 5]  # all that it looked at was theirs, the first time
    schedule_many("T_SERIAL", [{"key": "more"}], tenant="acme")
    assert held() == 5
    gates.learn(run("gates", {}))
    assert held() == 6
    resume()
    assert chore.put_back() == 6


def test_nothing_of_it_is_planned_and_a_trigger_waits():
    job, other = make("theirs", every=60, tenant="acme"), make("ours", every=60)
    before = len(instances(job))
    suspend()

    time_passes(timedelta(minutes=5))
    plan_once()
    verbs.trigger(job.id, "now", operator(), tenant="acme")
    run_due()

    assert len(instances(job)) == before + 1 and len(instances(other)) > before
    assert not ScheduleTask.objects.filter(job=job.id, status="SUCCESS").exists()
    resume()
    chore.put_back()
    time_passes(timedelta(minutes=5))
    plan_once()
    assert len(instances(job)) > before + 1


def test_why_names_the_suspension_the_person_and_the_way_out():
    [task] = scheduled("a", tenant="acme")
    suspend(until=TUESDAY)

    due = why_task(row(task))
    run_due()
    aside = why_task(row(task))

    assert due.rule == aside.rule == "tenant_suspended"
    assert "by olga: the invoice is open. `manage.py tenant resume acme` ends it." in due.words
    assert "until Tue 3 Jan 2090" in aside.words and "It was due" in aside.words
    assert "olga" not in due.outside and "the invoice is open" in due.outside
    resume()
    assert "a beat puts it back" in why_task(row(task)).words or why_task(row(task)).rule == "no_dispatcher"


def test_why_says_it_of_a_job_too():
    job = make("theirs", every=60, tenant="acme")
    suspend()

    assert why_job(job).rule == "tenant_suspended"


def test_a_suspension_ends_by_itself():
    [task] = scheduled("a", tenant="acme")
    suspend(until=timezone.now() + HOUR)
    run_due()
    chore.tend_tenants()
    assert Tenant.objects.get(name="acme").suspended

    Tenant.objects.filter(name="acme").update(until=timezone.now() - HOUR)
    chore.tend_tenants()

    assert not Tenant.objects.get(name="acme").suspended
    run_due()
    assert state(task).status == "SUCCESS"
    assert ("beat", "resume", "tenant acme", "resumed") in done()


def test_suspending_and_resuming_are_told_and_audited_once():
    suspend()
    suspend()
    resume()
    resume()

    assert [event.type for event in told()] == ["tenant.suspended", "tenant.resumed"]
    assert {event.tenant for event in told()} == {"acme"}
    assert done() == [
        ("olga", "suspend", "tenant acme", "suspended"),
        ("olga", "resume", "tenant acme", "resumed"),
    ]


@pytest.mark.parametrize(
    ("name", "how", "words"),
    [
        ("internal", {}, "can't be suspended"),
        ("acme", {"until": timezone.now() - HOUR}, "has passed already"),
        ("", {}, "tenant is empty"),
        ("x" * 64, {}, "at most 63"),
    ],
)
def test_a_suspension_that_makes_no_sense_is_refused(name, how, words):
    with pytest.raises(InvalidTask, match=words):
        suspend(name, **how)
    assert not Tenant.objects.filter(state="SUSPENDED").exists()


# Rows.


def test_a_tenant_without_a_row_works_and_gets_one_with_a_token_or_when_a_beat_counts():
    scheduled("a", tenant="by task")
    run_due()
    assert not Tenant.objects.filter(name="by task").exists()

    scheduled("b", tenant="by task")
    count()
    issue("t", "by token", operator())

    assert {"by task", "by token"} <= set(Tenant.objects.values_list("name", flat=True))


def test_a_tenant_is_made_and_changed_with_before_and_after_in_the_audit():
    tenants.create("acme", operator(), title="Acme", max_jobs=3)
    done = tenants.edit("acme", {"max_jobs": None, "contacts": ["a@example.com", "a@example.com"]}, operator())

    assert done.changed and (done.row.max_jobs, done.row.contacts) == (None, ["a@example.com"])
    assert not tenants.edit("acme", {"title": "Acme"}, operator()).changed
    with pytest.raises(NameTaken, match="already"), transaction.atomic():
        tenants.create("acme", operator())
    with pytest.raises(NotThere, match="tenant create"), transaction.atomic():
        tenants.edit("nobody", {"title": "x"}, operator())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_jobs": -1}, "max_jobs=-1 won't do"),
        ({"max_jobs": True}, "max_jobs=True won't do"),
        ({"max_tasks": 3e9}, "whole number"),
        ({"weight": 0}, "from 1 to 10,000"),
        ({"contacts": "a@example.com"}, "must be a list"),
        ({"contacts": ["nobody"]}, "no mail address"),
        ({"timezone": "Europe/Berln"}, "Did you mean 'Europe/Berlin'"),
        ({"max_job": 1}, "no 'max_job'"),
        ({"title": "x" * 101}, "at most 100"),
    ],
)
def test_what_a_tenant_can_not_have_is_refused(given, words):
    with pytest.raises(InvalidTask, match=words):
        tenants.create("acme", operator(), **given)


def test_nothing_to_change_is_said_and_unknown_quotas_are_named():
    with pytest.raises(NothingToDo, match="nothing was given"):
        tenants.edit("acme", {}, operator())
    with pytest.raises(InvalidTask, match="Did you mean 'max_jobs'"):
        checked_quotas({"max_job": 1})
    with pytest.raises(InvalidTask, match="can have no quotas"):
        tenants.create("internal", operator(), max_jobs=1)
    assert checked_weight(1) == 1


# Quotas.


def counted() -> None:
    count_again()
    count_used()


def test_more_live_tasks_than_the_quota_are_refused_until_some_are_done():
    tenants.create("acme", operator(), max_tasks=2)
    scheduled("a", "b", tenant="acme", at=TUESDAY)
    counted()

    with (
        pytest.raises(QuotaExceeded, match="has 2 live tasks, and may have 2") as refused,
        transaction.atomic(),
    ):
        schedule(TYPE, "c", tenant="acme")
    assert (refused.value.quota, refused.value.limit, refused.value.used) == ("max_tasks", 2, 2)
    assert schedule(TYPE, "a", tenant="acme").outcome == "EXISTS"
    assert reschedule(TYPE, "a", tenant="acme", delay=60).outcome == "UPDATED"
    assert schedule(TYPE, "c").outcome == "CREATED"  # another tenant's

    cancel(TYPE, "a", tenant="acme")
    counted()
    assert schedule(TYPE, "c", tenant="acme").outcome == "CREATED"


@pytest.mark.parametrize("how", [{}, {"idem_key": "once"}])
def test_of_many_at_once_none_is_written_if_one_is_refused(how):
    tenants.create("acme", operator(), max_payload_bytes=11)

    with (
        pytest.raises(QuotaExceeded, match="payload has 12 bytes") as refused,
        transaction.atomic(),
    ):
        schedule_many(TYPE, [{"key": "small"}, {"key": "large", "payload": {"a": "1234"}} | how], tenant="acme")

    assert refused.value.retry_after is None
    schedule(TYPE, "fits", tenant="acme", payload={"a": "123"}, **how)
    schedule(TYPE, "ours", payload={"a": "12345678"})


def test_a_task_that_is_over_and_comes_back_is_bound_as_well():
    tenants.create("acme", operator(), max_tasks=1)
    settled(started("a", tenant="acme"))
    scheduled("b", tenant="acme", at=TUESDAY)
    counted()

    for verb in (schedule, reschedule):
        with pytest.raises(QuotaExceeded), transaction.atomic():
            verb(TYPE, "new", tenant="acme", delay=60)
    with pytest.raises(QuotaExceeded), transaction.atomic():
        schedule(TYPE, "a", tenant="acme", delay=60)


def test_a_larger_quota_counts_at_once():
    tenants.create("acme", operator(), max_tasks=0)
    counted()
    with pytest.raises(QuotaExceeded), transaction.atomic():
        schedule(TYPE, "a", tenant="acme")

    tenants.edit("acme", {"max_tasks": 5}, operator())

    assert schedule(TYPE, "a", tenant="acme").outcome == "CREATED"


def test_more_jobs_than_the_quota_and_jobs_with_a_larger_payload_are_refused():
    tenants.create("acme", operator(), max_jobs=1, max_payload_bytes=20)
    job = make("one", every=60, tenant="acme")

    with pytest.raises(QuotaExceeded, match="has 1 jobs, and may have 1"), transaction.atomic():
        make("two", every=60, tenant="acme")
    with pytest.raises(QuotaExceeded, match="max_payload_bytes"), transaction.atomic():
        verbs.edit(job.id, {"payload": {"a": "x" * 20}}, operator(), tenant="acme")
    verbs.edit(job.id, {"payload": {"a": "x"}}, operator(), tenant="acme")
    verbs.delete(job.id, operator(), tenant="acme")
    make("two", every=60, tenant="acme")


def test_neither_a_trigger_nor_another_time_brings_a_larger_payload():
    job = make("one", every=60, tenant="acme")
    scheduled("a", tenant="acme", at=TUESDAY)
    batch = started("runs", tenant="acme")
    tenants.create("acme", operator(), max_payload_bytes=20)
    large = {"a": "x" * 20}

    with pytest.raises(QuotaExceeded, match="payload has 28 bytes"), transaction.atomic():
        verbs.trigger(job.id, "now", operator(), tenant="acme", payload=large)
    for key in ("a", "runs"):
        with pytest.raises(QuotaExceeded, match="payload has 28 bytes"), transaction.atomic():
            reschedule(TYPE, key, tenant="acme", delay=60, payload=large)

    verbs.trigger(job.id, "now", operator(), tenant="acme")
    assert reschedule(TYPE, "a", tenant="acme", delay=60, payload={"a": 1}).outcome == "UPDATED"
    assert settled(batch) == 1


def test_an_edit_refuses_nothing_by_what_was_only_reckoned():
    tenants.create("acme", operator(), max_tasks=5)
    Tenant.objects.filter(name="acme").update(tasks=6)  # some pages were counted, and it is not sure

    tenants.edit("acme", {"title": "Acme"}, operator())

    assert schedule(TYPE, "a", tenant="acme").outcome == "CREATED"


def test_a_form_that_was_filled_from_what_is_old_changes_nothing():
    seen = tenants.version_of(tenants.create("acme", operator()))
    tenants.edit("acme", {"max_tasks": 5}, operator(), seen=seen)

    with pytest.raises(StaleRevision, match="after you opened it"), transaction.atomic():
        tenants.edit("acme", {"max_tasks": None}, operator(), seen=seen)

    assert Tenant.objects.get(name="acme").max_tasks == 5


def test_however_many_tenants_have_quotas_they_are_counted_in_one_statement(django_assert_num_queries):
    for name in ("acme", "other", "third"):
        tenants.create(name, operator(), max_tasks=5, max_jobs=3)
        scheduled(name, tenant=name, at=TUESDAY)
    make("one", every=3600, tenant="acme")
    count_again()

    with django_assert_num_queries(3):  # with a savepoint and its release
        count_used()

    counts = Tenant.objects.exclude(tasks=None).order_by("name").values_list("name", "tasks", "jobs")
    assert list(counts) == [("acme", 1, 1), ("other", 1, 0), ("third", 1, 0)]


def test_who_can_not_be_near_a_quota_is_counted_once_in_a_while(monkeypatch):
    """By some of the pages: of a small table all are counted anyway."""
    monkeypatch.setattr(counting, "LOOKED_AT_ROWS", 39)
    tenants.create("acme", operator(), max_tasks=1000)
    scheduled(*map(str, range(40)), tenant="acme", at=TUESDAY)
    execute("ANALYZE punctual_task")

    def tasks_after_one_more(key: str, **quota: int) -> int | None:
        tenants.edit("acme", quota, operator())
        scheduled(key, tenant="acme", at=TUESDAY)
        count_used()
        return Tenant.objects.get(name="acme").tasks

    counted()
    assert tasks_after_one_more("far away", max_tasks=1001) == 40
    assert tasks_after_one_more("it may be near", max_tasks=42) == 42
    with pytest.raises(QuotaExceeded), transaction.atomic():
        schedule(TYPE, "one too many", tenant="acme")

    for key in range(40):
        cancel(TYPE, str(key), tenant="acme")
    count_used()  # it was near, whatever some pages say now
    assert schedule(TYPE, "there is room", tenant="acme").outcome == "CREATED"
    assert tasks_after_one_more("far away again", max_tasks=1000) == 2
    tenants.create("new", operator(), max_tasks=1000)
    count_used()  # of whom nothing is known yet
    assert Tenant.objects.get(name="new").tasks == 0
    assert tasks_after_one_more("nobody is near", max_tasks=1001) == 4
    tenants.edit("new", {"max_tasks": 100}, operator())
    count_used()  # few enough to be on none of the pages
    assert Tenant.objects.get(name="acme").tasks == 5


def test_four_fifths_of_a_quota_are_told_once_and_found_by_alarms():
    tenants.create("acme", operator(), max_tasks=5, max_jobs=1)
    make("one", every=3600, tenant="acme")
    scheduled("a", "b", tenant="acme", at=TUESDAY)
    counted()
    assert [event.data["quota"] for event in told("tenant.quota_near")] == ["max_jobs"]
    assert (Tenant.objects.get(name="acme").tasks, Tenant.objects.get(name="acme").jobs) == (2, 1)

    scheduled("c", "d", tenant="acme", at=TUESDAY)
    counted()
    counted()

    near = told("tenant.quota_near")[-1]
    assert len(told("tenant.quota_near")) == 2
    assert near.data["quota"] == "max_tasks" and near.data["used"] >= 4
    assert list(quotas()) == []
    rule(conditions=("quota",))
    found = list(quotas())
    assert [(one.tenant, one.cause) for one in found] == [("acme", "acme max_jobs"), ("acme", "acme max_tasks")]


# The command.


def test_the_command_makes_shows_suspends_and_resumes():
    assert "There is a tenant 'acme' now" in printed("create", "acme", "--title", "Acme Ltd", "--max-tasks", "10")
    assert "would not fire" in printed("suspend", "acme", "--reason", "x", "--dry-run")
    assert "is suspended." in printed("suspend", "acme", "--reason", "unpaid", "--until", "2090-01-03T09:00+00:00")
    scheduled("a", tenant="acme")
    run_due()

    shown, listed = printed("show", "acme"), printed("list")
    assert "suspended since" in shown and "1 tasks wait" in shown and "max_tasks: 10" in shown
    assert "unpaid, 1 wait  Acme Ltd" in listed
    [told_] = [one for one in json.loads(printed("list", "--json")) if one["name"] == "acme"]
    assert (told_["state"], told_["held_tasks"], told_["quotas"]["max_tasks"]) == ("SUSPENDED", 1, 10)
    assert "1 tasks that came due" in printed("resume", "acme", "--reason", "paid")
    assert "nothing was changed" in printed("resume", "acme", "--reason", "paid")
    assert "is changed" in printed("edit", "acme", "--max-tasks", "none")
    assert Tenant.objects.get(name="acme").max_tasks is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["suspend", "acme", "--reason", "x", "--until", "tomorrow"], "no time with a zone"),
        (["edit", "acme", "--weight", "0"], "from 1 to 10,000"),
        (["show", "nobody"], "no tenant 'nobody'"),
        (["edit", "nobody", "--title", "x"], "no tenant 'nobody'"),
    ],
)
def test_the_command_names_what_is_wrong(words, says):
    with pytest.raises(CommandError, match=says):
        printed(*words)


def test_the_settings_of_a_tenant_are_shown(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {
        "RETENTION": {"brief": {"hot_days": 2, "tenants": ["acme"]}},
        "RETRY_BUDGETS": {"tenants": {"acme": {"share": 0.2}}},
    }
    tenants.create("acme", operator())

    shown = printed("show", "acme")

    assert "retention class by the settings: brief: 2 days" in shown and "20% of all tries" in shown


def test_beats_know_who_is_suspended():
    suspend()

    assert gate_rules().suspended == ("acme",)


# Defaults, and quotas of what flows.


@pytest.fixture
def acme() -> None:
    tenants.create("acme", operator())


def edit(**given: object) -> None:
    tenants.edit("acme", given, operator())
    tenant_defaults._known.clear()  # which the commit does


def test_the_lane_of_a_tenant_is_that_of_tasks_and_jobs_for_which_nobody_names_one(acme):
    edit(lane="low")

    lanes = [
        row(schedule(TYPE, "its own", tenant="acme").task_id).lane,
        row(schedule(TYPE, "named", tenant="acme", lane="high").task_id).lane,
        row(schedule("T_URGENT", "by its type", tenant="acme").task_id).lane,
        row(schedule(TYPE, "others").task_id).lane,
        make("a job", tenant="acme").lane,
    ]

    assert lanes == ["low", "high", "critical", "default", "low"]


def test_what_a_tenant_has_of_its_own_is_looked_up_once_in_a_while_and_never_for_the_usual_ones(acme):
    with CaptureQueriesContext(connection) as asked:
        schedule(TYPE, "a")
        usual = len(asked)
        schedule(TYPE, "a", tenant="acme")
        first = len(asked) - usual
        schedule(TYPE, "b", tenant="acme")

    assert (first, len(asked) - usual - first) == (usual + 1, usual)


def test_the_past_of_a_tenant_is_kept_in_its_class_and_no_longer_than_it_may(acme, settings):
    classes = {"brief": {"hot_days": 1, "cold_days": 1}, "long": {"hot_days": 60, "cold_days": 90}}
    settings.PUNCTUAL = settings.PUNCTUAL | {"RETENTION": classes, "ARCHIVE_URL": ""}
    assert retention_of("acme", TYPE).name == "default"
    edit(retention="long")
    assert (retention_of("acme", TYPE).name, retention_of("other", TYPE).name) == ("long", "default")

    edit(max_history_days=2)
    assert retention_of("acme", TYPE).name == "brief"
    settled(started("a", tenant="acme"))
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(hours=1))
    ScheduleTask.objects.update(updated_at=timezone.now() - timedelta(hours=2))
    run("make_class", {"retention": "brief"})
    move_batches(10, 10)
    assert PastTask.objects.get().retention == "brief"

    with (
        pytest.raises(InvalidTask, match="the shortest retention class, 'brief', keeps what is over for 1 days"),
        transaction.atomic(),
    ):
        edit(max_history_days=0)


def moved_to(key: str) -> str:
    """The class in which a task of acme's is kept that is over."""
    settled(started(key, tenant="acme"))
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(hours=1))
    ScheduleTask.objects.update(updated_at=timezone.now() - timedelta(hours=2))
    move_batches(10, 10)
    return PastTask.objects.get(biz_key=key).retention


def test_a_type_decides_before_the_row_of_a_tenant_and_that_before_the_settings_and_its_quota_bounds_all(
    acme, settings, monkeypatch
):
    classes = {
        "brief": {"hot_days": 1, "cold_days": 1, "tenants": ["acme"]},
        "long": {"hot_days": 60, "cold_days": 90},
        "longest": {"hot_days": 70, "cold_days": 99},
    }
    settings.PUNCTUAL = settings.PUNCTUAL | {"RETENTION": classes, "ARCHIVE_URL": ""}
    for name in classes:
        run("make_class", {"retention": name})
    found = [(moved_to("by the settings"), retention_of("acme", TYPE).name)]
    edit(retention="long")
    found += [(moved_to("by its row"), retention_of("acme", TYPE).name)]
    monkeypatch.setitem(REGISTRY._handlers, TYPE, replace(REGISTRY.require(TYPE), retention="longest"))
    found += [(moved_to("by its type"), retention_of("acme", TYPE).name)]
    edit(max_history_days=65)
    found += [(moved_to("by its quota"), retention_of("acme", TYPE).name)]

    assert found == [(name, name) for name in ("brief", "long", "longest", "long")]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"lane": "lowest"}, "Did you mean 'low'"),
        ({"retention": "ever"}, "is no retention class"),
        ({"retry_share": 1.5}, "retry_share=1.5 won't do: it must be 0 or more and less than 1"),
        ({"retry_burst": 5}, "without retry_share is no budget"),
        ({"schedules_per_second": -1}, "must be a whole number from 0"),
    ],
)
def test_defaults_that_wont_do_change_nothing(acme, given, says):
    before = tenants.shown_fields(Tenant.objects.get(name="acme"))
    with pytest.raises(InvalidTask, match=says), transaction.atomic():
        edit(**given)
    assert tenants.shown_fields(Tenant.objects.get(name="acme")) == before
    with pytest.raises(InvalidTask, match="tenant 'default' goes by the settings"), transaction.atomic():
        tenants.edit("default", {"lane": "low"}, operator())


def test_a_tenant_that_schedules_too_fast_is_refused_until_some_seconds_have_passed(acme):
    edit(schedules_per_second=1)
    schedule_many(TYPE, [{"key": n} for n in range(8)], tenant="acme")

    with pytest.raises(QuotaExceeded, match="which is 10 in 10 seconds") as refused, transaction.atomic():
        schedule_many(TYPE, [{"key": n} for n in range(100, 103)], tenant="acme")
    assert (refused.value.quota, refused.value.limit, refused.value.used) == ("schedules_per_second", 1, 1)
    assert 1 <= refused.value.retry_after <= 10
    with pytest.raises(QuotaExceeded, match="Schedule fewer of them") as refused, transaction.atomic():
        schedule_many(TYPE, [{"key": n} for n in range(100, 111)], tenant="acme")
    assert refused.value.retry_after is None
    with pytest.raises(QuotaExceeded), transaction.atomic():
        schedule_many(TYPE, [{"key": n, "idem_key": str(n)} for n in range(100, 103)], tenant="acme")
    assert ScheduleTask.objects.count() == 8
    schedule_many(TYPE, [{"key": n} for n in range(50)])  # others don't wait
    assert schedule(TYPE, 3, tenant="acme").outcome == "EXISTS"

    count_scheduled()
    assert (Tenant.objects.get(name="acme").near, told("tenant.quota_near")[-1].data["quota"]) == (
        ["schedules_per_second"],
        "schedules_per_second",
    )
    ScheduleCount.objects.update(at=timezone.now() - timedelta(seconds=11))
    schedule_many(TYPE, [{"key": n} for n in range(100, 103)], tenant="acme")
    ScheduleCount.objects.update(at=timezone.now() - timedelta(minutes=2))
    count_scheduled()
    assert (Tenant.objects.get(name="acme").near, ScheduleCount.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    ("bound", "refusal"),
    [
        ({"max_payload_bytes": 11}, "payload has 12 bytes"),
        ({"schedules_per_second": 0}, "may schedule 0 tasks a second"),
        ({"closed": True}, "is being archived, and gets nothing new"),
        ({"max_tasks": 1, "tasks": 1, "at_limit": True}, "max_tasks"),
    ],
)
@pytest.mark.parametrize("keys", ["a", "abc"], ids=["one", "some that are alike"])
def test_tasks_are_bound_whichever_way_they_are_scheduled(acme, bound, refusal, keys):
    assert schedule(TYPE, "before", tenant="acme", payload={"a": "1234"}).outcome == "CREATED"
    Tenant.objects.filter(name="acme").update(**bound)

    for _ in range(2):  # also when the process knows that the tenant is bound
        with pytest.raises((QuotaExceeded, InvalidTask), match=refusal), transaction.atomic():
            if keys == "a":
                schedule(TYPE, "a", tenant="acme", payload={"a": "1234"})
            else:
                schedule_many(TYPE, [{"key": key, "payload": {"a": "1234"}} for key in keys], tenant="acme")

    assert schedule(TYPE, "before", tenant="acme").outcome == "EXISTS"
    assert [one.biz_key for one in ScheduleTask.objects.all()] == ["before"]


def test_one_task_by_itself_counts_and_takes_one_statement_also_of_a_tenant_that_is_bound(acme):
    edit(schedules_per_second=100, max_tasks=100, max_payload_bytes=1_000)
    schedule(TYPE, "a", tenant="acme")  # in which the process learns that it is

    with CaptureQueriesContext(connection) as asked, transaction.atomic():
        schedule(TYPE, "b", tenant="acme")
        schedule(TYPE, "b")
        schedule(TYPE, "c", at=TUESDAY, repeat_after=60)

    assert sum("SAVEPOINT" not in (one["sql"] or "") for one in asked) == 3
    assert {(one.tenant, one.tasks) for one in ScheduleCount.objects.all()} == {("acme", 1)}
    assert ScheduleCount.objects.count() == 2


def test_no_more_of_a_tenant_run_at_the_same_time_than_may_and_others_do_not_wait(acme):
    edit(max_running=2)
    number = claimed("a", "b", "c", "ours")
    ScheduleTask.objects.exclude(biz_key="ours").update(tenant="acme")

    batch = start(number, "worker")

    assert sorted(task.key for task in batch.tasks) == ["a", "b", "ours"]
    assert HeldTask.objects.get().tenant == "acme"
    assert why_task(row(HeldTask.objects.get().task)).rule in ("tenant_full", "no_dispatcher")
    assert chore.put_back() == 0  # there is no room
    count_running()
    assert Tenant.objects.get(name="acme").near == ["max_running"]
    rule(conditions=("quota",))
    assert "80% or more of its 2 tasks that run at the same time" in next(quotas()).sample["sentence"]
    settled(batch)
    assert chore.put_back() == 1 and len(run_due()) == 1
    count_running()
    assert (Tenant.objects.get(name="acme").near, HeldTask.objects.count()) == ([], 0)


def test_what_is_away_counts_as_running(acme):
    edit(max_running=1)
    away("a", tenant="acme")

    assert start(claimed("b", tenant="acme"), "worker").tasks == []


def noted() -> dict[str, tuple[int, int, int]]:
    """Of acme: the most, the last and the quota, of this hour."""
    count_again()
    count_used()
    note_use()
    lately = QuotaUse.objects.filter(tenant="acme", hour__gt=timezone.now() - HOUR)
    return {row.quota: (row.used, row.last, row.most) for row in lately}


def test_what_is_used_of_quotas_is_kept_by_the_hour_with_the_most_and_the_last_of_it():
    tenants.create("acme", operator(), max_tasks=5, max_running=3, schedules_per_second=7, max_payload_bytes=10)
    tenants.create("idle", operator(), max_tasks=5, max_jobs=5, calls_per_minute=5)
    batch = started("a", "b", tenant="acme")
    ScheduleCount.objects.all().delete()
    ScheduleCount.objects.create(tenant="acme", tasks=21)
    assert noted() == {"max_tasks": (2, 2, 5), "max_running": (2, 2, 3), "schedules_per_second": (3, 3, 7)}

    edit(max_tasks=6)
    ScheduleCount.objects.all().delete()
    settled(batch)
    scheduled("c", tenant="acme", at=TUESDAY)
    assert noted()["max_tasks"] == (2, 1, 6)
    assert noted()["max_running"] == (2, 0, 3)
    assert not QuotaUse.objects.filter(tenant="idle").exists()  # of those who use nothing there are no rows

    QuotaUse.objects.update(hour=F("hour") - HOUR)
    assert noted()["max_tasks"] == (1, 1, 6)
    of_tasks = QuotaUse.objects.filter(quota="max_tasks").order_by("hour")
    assert list(of_tasks.values_list("used", "last")) == [(2, 0), (1, 1)]  # the last of one hour only
    QuotaUse.objects.filter(hour__gt=timezone.now() - HOUR).delete()
    cancel(TYPE, "c", tenant="acme")
    ScheduleCount.objects.all().delete()
    assert noted() == {}
    assert set(QuotaUse.objects.values_list("last", flat=True)) == {0}  # also of the hour before
    assert [(one.used, one.limit) for one in use_of("acme", 3)["max_tasks"]] == [(2, 6)]
    assert use_of("acme", 1) == use_of("other", 100) == {}

    QuotaUse.objects.filter(quota="max_tasks").update(hour=timezone.now() - timedelta(days=32))
    assert (prune().quota_use, QuotaUse.objects.count()) == (1, 2)


def test_the_use_of_quotas_is_read_on_the_page_and_in_the_terminal(admin_client):
    tenants.create("acme", operator(), max_tasks=2, max_jobs=0)
    assert "Nothing of a quota was used in the last 24 hours." in printed("use", "acme")
    scheduled("a", "b", tenant="acme", at=TUESDAY)
    noted()

    assert "2 of 2 (100%)" in printed("use", "acme", "--quota", "max_tasks")
    [told_hour] = json.loads(printed("use", "acme", "--json"))
    assert (told_hour["quota"], told_hour["used"], told_hour["limit"]) == ("max_tasks", 2, 2)
    where = console_url("punctual_tenant_show", "acme")
    for span in ("day", "week", "month"):
        page = admin_client.get(f"{where}?use={span}").content.decode()
        assert "At most 2 of 2, on" in page
    assert admin_client.get(f"{where}?use=ever").status_code == 404
    with pytest.raises(CommandError, match="must be a whole number from 1 to 744"):
        printed("use", "acme", "--hours", "0")

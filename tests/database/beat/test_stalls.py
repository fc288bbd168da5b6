"""What beats hung on is counted, skipped, named, and taken up again when it is changed or released."""

from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from django_punctual import ToStream, subscribe
from tasks_app.core.at_work import Kind
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.beat.leases import Leases
from tasks_app.engine.beat.tenants import put_back
from tasks_app.engine.watch.stall_status import read_stalls
from tasks_app.engine.watch.status import read_status
from tasks_app.lifecycle import calendars
from tasks_app.lifecycle.alarms.incidents import rules_for
from tasks_app.lifecycle.calendars import CalendarRequest
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.stalls import SKIPPED, note_params, schedule_item
from tasks_app.models import (
    AlarmRule,
    AuditEntry,
    Calendar,
    HeldTask,
    JobCursor,
    JobDefinition,
    Node,
    Stall,
    Subscription,
)
from tasks_app.sql import array, run
from tests.support.jobs import by, instances, make, now, was_down
from tests.support.marks import commits

pytestmark = commits
STACK = "File words.py, line 17 in match\nFile beat.py, line 2 in run"
HOURS = timedelta(hours=3)


def hang(kind: Kind, item: object, place: str, times: int = 2) -> Stall:
    """So many beats, one after the other, as their observers note it; and one that starts then."""
    for _ in range(times):
        run("note_stall", note_params(kind, str(item), place, "vm:1", STACK))
    start()
    return Stall.objects.get(kind=kind, place=place)


def start() -> None:
    """What a beat does before its first work, and every few seconds."""
    Leases(uuid4(), "vm:2", lambda nodes: None).run_once()


def released() -> bool:
    start()
    return not Stall.objects.exists()


def schedule_of(job: JobDefinition) -> str:
    row = JobCursor.objects.get(id=JobDefinition.objects.get(id=job.id).cursor)
    repeats = (row.cron, row.every, row.phase, row.timezone, row.dst_gap, row.dst_repeat)
    return schedule_item(*repeats, row.calendar, row.on_day_off)


def planned(*jobs: JobDefinition) -> list[bool]:
    """Of which of these a beat that comes back after hours makes instances."""
    for job in jobs:
        was_down(job, HOURS)
    while plan_once().instances:
        pass
    return [bool(instances(job)) for job in jobs]


def held() -> set[str]:
    """The subscriptions that a beat delivers that is alone."""
    Node.objects.all().delete()
    asked = {"node_id": uuid4(), "name": "vm:2", "site": "main", "ttl": 60.0}
    rows = run("hold_subscriptions", asked | {"skipped": array(SKIPPED.of(Kind.SUBSCRIPTION))})
    Subscription.objects.update(holder=None)
    return set(Subscription.objects.filter(id__in=[id_ for _, id_, _ in rows if id_]).values_list("name", flat=True))


def test_an_item_is_skipped_after_two_ends_within_a_day_and_a_part_of_the_beat_never():
    assert hang(Kind.TENANT, "acme", "tenants", times=1).skipped_at is None
    assert SKIPPED.of(Kind.TENANT) == frozenset()
    Stall.objects.update(last_at=Now() - timedelta(hours=25))
    run("note_stall", note_params(Kind.TENANT, "acme", "tenants", "vm:1", STACK))
    assert Stall.objects.get().ends == 1, "what happened the day before is no evidence any more"

    again = hang(Kind.TENANT, "acme", "tenants", times=1)

    assert again.ends == 2 and again.skipped_at is not None
    assert SKIPPED.of(Kind.TENANT, "tenants") == {"acme"}
    assert SKIPPED.of(Kind.TENANT, "alarm") == frozenset(), "only where beats hung on it"
    assert hang(Kind.PART, "alarm", "alarm", times=5).skipped_at is None


def test_an_end_that_is_a_day_old_is_forgotten_and_a_skipped_item_is_not():
    hang(Kind.TENANT, "acme", "tenants")
    hang(Kind.PART, "alarm", "alarm", times=1)
    Stall.objects.update(last_at=Now() - timedelta(hours=25))
    start()

    assert [row.kind for row in Stall.objects.all()] == [Kind.TENANT]


def test_jobs_of_a_skipped_schedule_are_not_planned_until_it_is_released_and_then_by_their_policy():
    jobs = [make(name, cron="*/7 * * * *", catch_up="all", catch_up_window=86_400) for name in ("one", "two")]
    other = make("other", cron="*/8 * * * *", catch_up="all", catch_up_window=86_400)
    row = hang(Kind.JOB, schedule_of(jobs[0]), "planner")

    assert planned(*jobs, other) == [False, False, True]
    assert "default/one, default/two" in {one.name for one in read_stalls()}

    call_command("stalls", "release", str(row.id), "--reason", "repaired", stdout=StringIO())
    start()
    while plan_once().instances:
        pass
    missed = jobs[0].schedule.until(now() - HOURS, now(), 1_000)
    assert all(len(instances(job)) >= len(missed) - 1 > 1 for job in jobs)


def test_a_job_that_gets_another_schedule_is_planned_and_the_old_one_is_released_when_no_job_has_it():
    jobs = [make(name, cron="*/7 * * * *") for name in ("one", "two")]
    hang(Kind.JOB, schedule_of(jobs[0]), "planner")
    verbs.edit(jobs[0].id, {"cron": "*/9 * * * *"}, by())
    jobs[0].refresh_from_db()

    assert not released()
    assert planned(*jobs) == [True, False]
    verbs.edit(jobs[1].id, {"cron": "*/9 * * * *"}, by())
    assert released()


def test_jobs_with_a_skipped_calendar_are_not_planned_until_it_is_changed():
    days = [calendars.create(CalendarRequest(name), by()) for name in ("one", "two")]
    jobs = [make(name, cron="*/7 * * * *", calendar=name) for name in ("one", "two")]
    row = hang(Kind.CALENDAR, days[0].id, "planner")
    Calendar.objects.update(changed=True)

    assert planned(*jobs) == [False, True]
    assert list(Calendar.objects.filter(changed=True)) == [days[0]], "nor is it planned anew by its days"
    assert str(read_stalls()[0]) == f"calendar default/one ({STACK.splitlines()[0]})"

    calendars.edit(days[0].id, {"days_off": ["2027-01-01"]}, by(), revision=days[0].revision)
    assert row.skipped_at and released()
    assert planned(*jobs) == [True, True]


def test_a_skipped_subscription_is_delivered_by_no_beat_until_it_is_changed():
    for name in ("one", "two"):
        subscribe(name, events=["task.*"], to=ToStream(name))
    one = Subscription.objects.get(name="one")
    hang(Kind.SUBSCRIPTION, one.id, "relay")

    assert held() == {"two"}
    assert Subscription.objects.get(name="one").window_no == one.window_no, "its events wait for it"

    assert not released()
    subscribe("one", events=["job.*"], to=ToStream("one"))
    assert released()
    assert held() == {"one", "two"}


def test_a_tenant_is_skipped_by_the_chore_that_hung_on_it_and_by_no_other():
    HeldTask.objects.bulk_create(HeldTask(task=n, tenant=name, due_at=now()) for n, name in enumerate(("a", "b")))
    asked = {
        "name": "rule",
        "conditions": ["dead"],
        "task_types": [],
        "channels": [],
        "repeat_seconds": 60,
        "quiet_seconds": 60,
    }
    AlarmRule.objects.bulk_create(AlarmRule(tenant=name, **asked) for name in ("a", "b"))
    hang(Kind.TENANT, "a", "tenants")

    put_back()
    assert [row.tenant for row in HeldTask.objects.all()] == ["a"]
    assert [rule.tenant for rule in rules_for({"a", "b"})] == ["a", "b"]

    hang(Kind.TENANT, "a", "alarm")
    assert [rule.tenant for rule in rules_for({"a", "b"})] == ["b"]


def test_what_is_skipped_is_named_in_status_and_list_and_released_with_a_reason():
    subscribe("words", events=["task.*"], to=ToStream("words"), tenant="acme")
    row = hang(Kind.SUBSCRIPTION, Subscription.objects.get().id, "relay")
    hang(Kind.PART, "alarm", "alarm", times=1)

    found = {one.rule: one for one in read_status().found}
    skipped, hung = found["items_skipped"], found["beats_stalled"]
    assert (skipped.severity, hung.severity) == ("trouble", "notice")
    assert skipped.detail == "subscription acme/words (File words.py, line 17 in match)."
    assert "acme" not in skipped.outward, "every caller of the API reads this"
    assert hung.detail == "part alarm (File words.py, line 17 in match)."

    hang(Kind.PART, "alarm", "alarm", times=1)
    assert {one.rule: one.severity for one in read_status().found}["beats_stalled"] == "trouble"

    page = StringIO()
    with pytest.raises(SystemExit):
        call_command("stalls", "list", stdout=page)
    assert f"{row.id} subscription acme/words, in relay: skipped since" in page.getvalue()
    assert all(line in page.getvalue() for line in STACK.splitlines())

    with pytest.raises(CommandError, match="there is no stall number 4711"):
        call_command("stalls", "release", "4711", "--reason", "repaired")
    call_command("stalls", "release", str(row.id), "--reason", "repaired", stdout=page)
    entry = AuditEntry.objects.get(verb="release stall")
    assert (entry.reason, entry.detail["item"]) == ("repaired", str(row))
    call_command("stalls", "list", stdout=page)
    assert "items_skipped" not in {one.rule for one in read_status().found}

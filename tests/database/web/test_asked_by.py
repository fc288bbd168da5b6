"""asked_by: from a task, live or over, to the person or the API token that scheduled it; code pays nothing for it."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction

from django_punctual import schedule
from tasks_app import scope
from tasks_app.engine.beat.mover import move
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle.campaigns.steps import step
from tasks_app.models import AnyTask, AuditEntry, PastTask, ScheduleTask
from tests.support.api import Api
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import claim_due, make_due, run_due
from tests.support.jobs import make
from tests.support.live import a_beat_is_alive
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.round_trips import round_trips

pytestmark = commits

TASK = {"task_type": "T_QUIET", "key": "a", "delay": 3600}


@pytest.fixture
def shop() -> Api:
    a_beat_is_alive()
    return Api(token=issue("shop", "default", operator(), can_write=True)[1])


def asked_by(key: str) -> str | None:
    return AnyTask.objects.filter(biz_key=key).latest("id").asked_by


def test_a_task_of_a_token_says_so_in_every_view(shop):
    made = shop.post("/tasks", TASK).body
    vera = client_of(person("vera", "punctual.view_scheduletask"))

    page = vera.get(f"/admin/punctual/scheduletask/{made['id']}/change/").content.decode()
    listed, told = StringIO(), StringIO()
    call_command("history", "--json", stdout=listed)
    call_command("history", "--unit", "T_QUIET", "a", stdout=told)

    assert made["asked_by"] == shop.get(f"/tasks/{made['id']}").body["asked_by"] == "token shop"
    assert "by token shop" in page
    assert json.loads(listed.getvalue().splitlines()[0])["asked_by"] == "token shop"
    assert "asked for by token shop" in told.getvalue()


def test_it_stays_when_the_task_is_over_and_goes_to_the_past(shop, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.000_001}
    shop.post("/tasks", TASK | {"delay": 0})
    run_due()
    move()

    assert PastTask.objects.get(biz_key="a").asked_by == "token shop"


@pytest.mark.parametrize("deed", ["bulk", "trigger", "replace"])
def test_every_way_to_a_new_task_says_who_asked(shop, deed):
    if deed == "bulk":
        shop.post("/tasks/bulk", {"tasks": [TASK, TASK | {"key": "b"}]})
    elif deed == "trigger":
        shop.post(f"/jobs/{make(every=3600).id}/trigger", Idempotency_Key="k")
    else:
        make_due(schedule("T_QUIET", "a").task_id)
        claim_due()
        assert shop.post("/tasks/reschedule", TASK | {"delay": 60}).body["outcome"] == "REPLACED"

    assert ScheduleTask.objects.latest("id").asked_by == "token shop"


def test_what_code_schedules_was_asked_for_by_nobody_even_after_a_request(shop):
    shop.post("/tasks", TASK)
    schedule("T_QUIET", "code", delay=60)
    with transaction.atomic():
        shop.post("/tasks", TASK | {"key": "b"})
        schedule("T_QUIET", "after", delay=60)

    assert (asked_by("a"), asked_by("b"), asked_by("code"), asked_by("after")) == ("token shop",) * 2 + (None,) * 2


def test_a_database_without_roles_knows_it_too(shop, monkeypatch):
    monkeypatch.setattr(scope, "_PROTECTED", "SELECT FALSE")
    scope.our_connection().close()

    shop.post("/tasks", TASK)
    shop.post("/tasks", TASK | {"key": "b"}, Idempotency_Key="k")

    assert (asked_by("a"), asked_by("b")) == ("token shop", "token shop")
    scope.our_connection().close()


def test_a_command_names_its_actor_in_each_transaction_and_leaves_nothing_behind():
    with scope.acting_as("olga"), transaction.atomic():
        schedule("T_QUIET", "a", delay=60)
    schedule("T_QUIET", "b", delay=60)

    assert (asked_by("a"), asked_by("b")) == ("olga", None)


def test_naming_the_actor_costs_a_request_no_round_trip(shop, monkeypatch):
    def one(key: str) -> int:
        return round_trips(lambda: shop.post("/tasks", TASK | {"key": key}))

    one("warm"), one("warmer")
    named = one("a")
    monkeypatch.setattr(scope, "act_as", lambda name: None)

    assert one("b") == named
    assert (asked_by("a"), asked_by("b")) == ("token shop", None)


def test_a_backfill_has_one_audit_entry_and_each_of_its_tasks_says_who_ordered_it(shop):
    job = make(cron="0 * * * *")
    asked = {"since": "2026-11-01T00:00:00Z", "until": "2026-11-01T05:00:00Z", "which": "all", "reason": "lost"}
    ordered = shop.post(f"/jobs/{job.id}/backfill", asked, Idempotency_Key="k")
    assert ordered.status == 200, ordered.body
    before = AuditEntry.objects.count()

    while step("test"):
        pass

    made = ScheduleTask.objects.filter(job=job.id, biz_key__contains=":b:")
    assert {task.asked_by for task in made} == {"token shop"} and len(made) == 6
    [entry] = AuditEntry.objects.filter(subject__startswith="campaign")
    assert (entry.verb, AuditEntry.objects.count()) == ("campaign", before)

"""The internal tenant: the scheduler's own tasks and the apps' belong to it, and so do those of before."""

import io
import re
from importlib import import_module
from uuid import uuid4

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection

from articles_app.units import PUBLISH
from inventory_app.lifecycle import add
from inventory_app.units import STOCK_SYNC
from tasks_app.client import (
    INTERNAL_TENANT,
    InvalidTask,
    Operator,
    cancel_tasks,
    dead_keys,
    find,
    find_many,
    handler,
    schedule,
)
from tasks_app.client.jobs import JobRequest, create_job
from tasks_app.conf import conf
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.core.sharding import shard_of
from tasks_app.engine.beat.compensation import compensate
from tasks_app.engine.canary import CANARY, canaries, send_canaries
from tasks_app.engine.operations.api_tokens import issue, known
from tasks_app.models import ApiToken, DlqEntry, JobDefinition, OutboxEvent, ScheduleTask, UnitRevision
from tests.support.articles import approved
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.jobs import by, make
from tests.support.live import a_worker_is_alive

pytestmark = pytest.mark.django_db

OURS = ("ARTICLE_AUDIT", "ARTICLE_PUBLISH", "ARTICLE_OFFLINE", "STOCK_SYNC", "PUNCTUAL_CANARY")


def test_the_tasks_of_the_scheduler_and_of_the_apps_are_internal(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10}
    a_worker_is_alive()
    send_canaries()
    article, product = approved(), add("P1", "a product")

    assert {REGISTRY.get(name).tenant for name in OURS} == {INTERNAL_TENANT}
    assert set(ScheduleTask.objects.values_list("tenant", flat=True)) == {INTERNAL_TENANT}
    assert len(canaries()) == len(LANES)
    assert find(PUBLISH, article).live and find(STOCK_SYNC, product.product_code).live
    assert set(find_many([PUBLISH, STOCK_SYNC, "T_QUIET"], [article, "P1"])) == {
        (PUBLISH, str(article)),
        (STOCK_SYNC, "P1"),
    }
    assert find(PUBLISH, article, tenant="default") is None


def test_a_type_that_names_its_tenant_is_refused_elsewhere():
    job = JobRequest(name="a", task_type=STOCK_SYNC, every=60)

    with pytest.raises(InvalidTask, match="'STOCK_SYNC' belongs to tenant 'internal'"):
        schedule(STOCK_SYNC, "a", tenant="default")
    with pytest.raises(InvalidTask, match="belongs to tenant 'internal'"):
        create_job(job, by(), tenant="acme")
    assert create_job(job, by()).tenant == INTERNAL_TENANT
    assert schedule("T_QUIET", "a").task_id and ScheduleTask.objects.get(biz_key="a").tenant == "default"


def test_a_job_is_not_turned_to_a_type_of_another_tenant():
    from tasks_app.client.jobs import edit_job

    job = make(tenant="acme")
    with pytest.raises(InvalidTask, match="belongs to tenant 'internal'"):
        edit_job(job.id, {"task_type": STOCK_SYNC}, by(), tenant="acme")


@pytest.mark.parametrize(
    "option", [{"tenant": ""}, {"tenant": 1}, {"api": "acme"}, {"api": []}, {"api": [1]}, {"api": 1}]
)
def test_an_option_that_makes_no_sense_is_refused(option):
    with pytest.raises(InvalidConfiguration, match=r"'T_BAD': (tenant|api)="):
        handler("T_BAD", **option)(lambda task: None)


# ---- tokens of it ----


def test_a_token_of_it_is_asked_for_twice():
    for internal, tenant in ((False, INTERNAL_TENANT), (True, "acme")):
        with pytest.raises(InvalidTask, match=INTERNAL_TENANT):
            issue("ci", tenant, by(), internal=internal)
    with pytest.raises(CommandError, match="--internal"):
        call_command("api_token", "issue", "ci", "--tenant", INTERNAL_TENANT)
    assert not ApiToken.objects.exists()

    said = io.StringIO()
    call_command(
        "api_token", "issue", "ci", "--tenant", INTERNAL_TENANT, "--internal", stdout=io.StringIO(), stderr=said
    )
    assert ApiToken.objects.get().tenant == INTERNAL_TENANT and "Careful" in said.getvalue()


def test_so_is_one_on_the_page():
    rights = ["view_apitoken", "operate_apitoken", "view_scheduletask", "view_jobdefinition"]
    olga = client_of(person("olga", *(f"tasks_app.{right}" for right in rights)))
    form = {"name": "ci", "tenant": INTERNAL_TENANT, "may": "read", "reason": "a test", "operation": uuid4()}
    path = "/admin/tasks_app/apitoken/add/"

    refused, issued = olga.post(path, form), olga.post(path, form | {"internal": "on"})

    assert (refused.status_code, issued.status_code) == (400, 200)
    assert "own tasks" in refused.content.decode() and "own tasks" in issued.content.decode()
    assert known(re.search(r"pnc_[\w-]{30,}", issued.content.decode())[0]).tenant == INTERNAL_TENANT


# ---- compensation ----


@pytest.mark.parametrize(("tenant", "restored"), [(None, False), (INTERNAL_TENANT, False), ("default", True)])
def test_what_a_token_from_outside_cancelled_is_scheduled_again_and_what_a_person_cancelled_is_not(tenant, restored):
    article, product = approved(), add("P1", "a product")
    ids = [find(PUBLISH, article).id, find(STOCK_SYNC, product.product_code).id]
    cancel_tasks(ids, Operator("token ci" if tenant else "olga", "a test", tenant=tenant))

    compensate(dry_run=False)

    assert find(PUBLISH, article).live is restored
    assert find(STOCK_SYNC, product.product_code).live is restored


# ---- rows of before ----


def as_before(task_type: str, key: str, status: str = "INIT", **more) -> ScheduleTask:
    """A row as it was written when everything was of the default tenant."""
    shard = shard_of("default", task_type, key, conf().SHARDS)
    given = {"execute_time": "2090-01-01T00:00Z", "due_at": "2090-01-01T00:00Z" if status == "INIT" else None}
    given |= {"max_retry": 3, "shard": shard, "tenant": "default", "status": status}
    return ScheduleTask.objects.create(task_type=task_type, biz_key=key, **given | more)


def migrate(direction: str = "forwards") -> None:
    modules = [
        ("tasks_app", "0015_internal_tenant"),
        ("articles_app", "0004_internal_tenant"),
        ("inventory_app", "0002_internal_tenant"),
    ]
    with connection.schema_editor(atomic=False) as editor:
        for app, name in modules:
            for operation in import_module(f"{app}.migrations.{name}").Migration.operations:
                code = operation.code if direction == "forwards" else operation.reverse_code
                code(apps, editor)


def test_rows_of_before_are_moved_and_keep_everything_else():
    live = [as_before(name, f"{name}-1", idem_key=f"{name}-idem") for name in OURS]
    past = as_before(PUBLISH, "2", "SUCCESS", current=False)
    dead = as_before(PUBLISH, "3", "DEAD")
    DlqEntry.objects.create(task=dead, tenant="default", task_type=PUBLISH, error_code="X", error_msg="x")
    hers = as_before(PUBLISH, "4", "CANCELLED", cancelled_by="olga")
    tokens = as_before(PUBLISH, "5", "CANCELLED", cancelled_by="token ci")
    other = as_before("T_QUIET", "6")
    UnitRevision.objects.create(tenant="default", task_type=PUBLISH, biz_key="2", revision=7)
    job = make(task_type="T_QUIET")
    JobDefinition.objects.filter(id=job.id).update(task_type=STOCK_SYNC)
    OutboxEvent.objects.all().delete()
    for event, task in (("task.failed", dead), ("task.failed", other), ("PUBLISH_TIME_CHANGED", None), ("x", None)):
        OutboxEvent.objects.create(tenant="default", event=event, task_id=task and task.id)
    before = {row["id"]: row for row in ScheduleTask.objects.values()}

    migrate()
    migrate()  # as after an interruption

    for id_, row in before.items():
        ours = row["task_type"] in OURS or row["job"] == job.id
        now = ScheduleTask.objects.filter(id=id_).values().get()
        moved = (
            {"tenant": INTERNAL_TENANT, "shard": now["shard"], "cancelled_from": now["cancelled_from"]} if ours else {}
        )
        if now["shard"] != row["shard"]:
            moved["wait_at"] = row["due_at"]  # it has an entry in the timetable of another shard
        assert now == row | moved
        assert now["shard"] == shard_of(now["tenant"], row["task_type"], row["biz_key"], conf().SHARDS) or row["job"]
    assert find(PUBLISH, f"{PUBLISH}-1").id == live[1].id and find(STOCK_SYNC, "STOCK_SYNC-1").live
    assert ScheduleTask.objects.get(id=past.id).tenant == INTERNAL_TENANT
    assert ScheduleTask.objects.get(id=hers.id).cancelled_from is None
    assert ScheduleTask.objects.get(id=tokens.id).cancelled_from == "default"
    assert dead_keys([PUBLISH]) == ["3"]
    assert UnitRevision.objects.get().tenant == JobDefinition.objects.get().tenant == INTERNAL_TENANT
    assert [one.tenant for one in OutboxEvent.objects.order_by("id")] == ["internal", "default", "internal", "default"]

    migrate("backwards")
    assert set(ScheduleTask.objects.values_list("tenant", flat=True)) == {"default"}
    assert find("T_QUIET", "6").id == other.id


def test_a_unit_that_is_there_already_stays_one():
    old = as_before(PUBLISH, "1")
    new = schedule(PUBLISH, "1", delay=60)

    migrate()

    assert find(PUBLISH, "1").id == new.task_id
    assert ScheduleTask.objects.get(id=old.id).tenant == "default"


def test_a_token_of_a_tenant_of_that_name_is_told_before_it_reaches_anything():
    token, _ = issue("old", "acme", by())
    ApiToken.objects.update(tenant=INTERNAL_TENANT)

    with pytest.raises(RuntimeError, match=rf"{token.id} \(old\)"):
        migrate()
    ApiToken.objects.update(revoked_at="2020-01-01T00:00Z")
    migrate()


def test_a_canary_of_before_is_the_canary_of_its_lane():
    old = as_before(CANARY, "low", lane="low", repeat_after=None)

    migrate()

    assert canaries()["low"].lane == "low"
    assert find(CANARY, "low").id == old.id

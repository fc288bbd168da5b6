"""The internal tenant: the scheduler's own tasks and the apps' belong to it, and so do those of before."""

import io
import re
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from articles_app.units import PUBLISH
from django_punctual import (
    INTERNAL_TENANT,
    InvalidTask,
    Operator,
    cancel_tasks,
    find,
    find_many,
    handler,
    schedule,
)
from django_punctual.jobs import JobRequest, create_job
from inventory_app.lifecycle import add
from inventory_app.units import STOCK_SYNC
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.engine.beat.compensation import compensate
from tasks_app.engine.canary import canaries, send_canaries
from tasks_app.engine.operations.api_tokens import issue, known
from tasks_app.models import ApiToken, ScheduleTask
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
    from django_punctual.jobs import edit_job

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
    olga = client_of(person("olga", *(f"punctual.{right}" for right in rights)))
    form = {"name": "ci", "tenant": INTERNAL_TENANT, "may": "read", "reason": "a test", "operation": uuid4()}
    path = "/admin/punctual/apitoken/add/"

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

"""Encrypted tasks on the pages: the word for it, and what it was for whoever may see it and says why."""

from uuid import uuid4

import pytest

from django_punctual import schedule
from tasks_app.lifecycle import tenant_keys, tenants
from tasks_app.models import Tenant
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import run_due
from tests.support.operators import operator as by

pytestmark = pytest.mark.django_db

WORD = "zebra-4711"
TASKS = "/admin/punctual/scheduletask/"
TENANTS = "/admin/punctual/tenant/"


@pytest.fixture
def task() -> int:
    done = schedule("T_HIDDEN", "a", payload={"do": "die", "message": f"no {WORD}", "return": "<script>"}).task_id
    run_due()
    return done


def form(**given: object) -> dict:
    return {"reason": "a complaint", "operation": str(uuid4())} | given


def test_a_page_shows_the_word_and_who_may_not_decrypt_gets_nothing_else(task):
    viewer = client_of(person("vera", "punctual.view_scheduletask"))

    shown = viewer.get(f"{TASKS}{task}/change/").content.decode()

    assert "encrypted" in shown and WORD not in shown and "Decrypt …" not in shown
    assert viewer.get(f"{TASKS}{task}/decrypt/").status_code == 403
    assert viewer.post(f"{TASKS}{task}/decrypt/", form()).status_code == 403
    assert not deeds().filter(verb="decrypt").exists()


def test_who_may_says_why_sees_it_once_and_is_in_the_audit(task):
    trusted = client_of(person("tina", "punctual.view_scheduletask", "punctual.decrypt_scheduletask"))
    assert "Decrypt …" in trusted.get(f"{TASKS}{task}/change/").content.decode()
    asked = trusted.get(f"{TASKS}{task}/decrypt/").content.decode()
    assert WORD not in asked and trusted.post(f"{TASKS}{task}/decrypt/", form(reason="")).status_code == 400
    assert not deeds().filter(verb="decrypt").exists()

    answer = trusted.post(f"{TASKS}{task}/decrypt/", form())

    assert WORD in answer.content.decode() and "<script>" not in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    [entry] = deeds().filter(verb="decrypt")
    assert (entry.actor, entry.reason, entry.task_id) == ("tina", "a complaint", task)


def test_what_nobody_can_open_says_why(task):
    tenant_keys.destroy("default", by())
    trusted = client_of(person("tina", "punctual.view_scheduletask", "punctual.decrypt_scheduletask"))

    answer = trusted.post(f"{TASKS}{task}/decrypt/", form())

    assert answer.status_code == 400 and "was destroyed" in answer.content.decode()
    plain = schedule("T_QUIET", "plain").task_id
    assert "nothing of task" in trusted.post(f"{TASKS}{plain}/decrypt/", form()).content.decode()


def test_a_tenant_asks_for_it_on_its_page_which_shows_its_keys():
    operator = client_of(person("olga", "punctual.view_tenant", "punctual.operate_tenant"))
    tenants.create("acme", by())
    assert "It has no key" in operator.get(f"{TENANTS}show/acme/").content.decode()

    assert operator.post(f"{TENANTS}edit/acme/", form(weight="100", encrypted="on")).status_code == 302

    shown = operator.get(f"{TENANTS}show/acme/").content.decode()
    assert Tenant.objects.get(name="acme").encrypted and "encrypts what is written now" in shown
    assert "being brought under the newest keys" in shown

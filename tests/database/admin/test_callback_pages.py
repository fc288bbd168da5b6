"""The pages of hosts and of secrets: what they show, what they never show, who may act, and bad input."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from tasks_app.lifecycle import hosts
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.models import Host, HostHealth, Secret
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of, page
from tests.support.operators import operator as by

pytestmark = pytest.mark.django_db

HOSTS, SECRETS = "/admin/punctual/host/", "/admin/punctual/secret/"
VIEW = ("punctual.view_host", "punctual.view_secret")
OPERATE = ("punctual.operate_host", "punctual.operate_secret")
VALUE = "sk_live_0123456789"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def operator():
    return client_of(person("olga", *VIEW, *OPERATE))


@pytest.fixture
def viewer():
    return client_of(person("vera", *VIEW))


def form(**given: object) -> dict:
    return {"reason": "they asked", "operation": str(uuid4())} | given


def unwell(error: str = "away") -> HostHealth:
    at = timezone.now() + timedelta(seconds=30)
    lost = {"tasks": [1, 2], "error": error, "unwell_since": timezone.now(), "try_at": at}
    return HostHealth.objects.create(tenant="acme", host="api.example.com:8443", **lost)


def test_hosts_that_are_unwell_and_limits_are_listed(viewer):
    unwell(SCRIPT)
    hosts.limit("hooks.example.com", by(), max_running=5, rate=2.5)

    shown = page(viewer, HOSTS)

    assert "api.example.com:8443" in shown and "hooks.example.com" in shown and "2.5/s" in shown
    assert SCRIPT not in shown
    assert "Try now" not in shown and "Lift" not in shown and "Limit a host" not in shown


def test_a_host_is_limited_tried_and_its_limit_lifted_each_with_a_reason(operator):
    unwell()
    assert operator.post(f"{HOSTS}add/", form(host="hooks.example.com", max_running="3")).status_code == 302
    assert Host.objects.get().max_running == 3
    assert operator.post(f"{HOSTS}try/acme/api.example.com:8443/", form()).status_code == 302
    assert HostHealth.objects.get().try_at <= timezone.now()
    assert "Lift" in page(operator, HOSTS)
    assert operator.post(f"{HOSTS}lift/hooks.example.com/", form()).status_code == 302
    assert not Host.objects.exists()
    assert {(one.verb, one.reason) for one in deeds()} == {(verb, "they asked") for verb in ("limit", "try", "lift")}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"host": "https://x/", "rate": "1"}, "must be a host"),
        ({"host": "x.example.com"}, "neither max_running nor rate"),
        ({"host": "x.example.com", "rate": "1", "reason": ""}, "required"),
    ],
)
def test_a_limit_that_makes_no_sense_is_told(operator, given, words):
    answer = operator.post(f"{HOSTS}add/", form(**given))

    assert (answer.status_code, words in answer.content.decode()) == (400, True)


def test_what_is_not_there_is_not_found(operator):
    for path in (f"{HOSTS}lift/x.example.com/", f"{HOSTS}try/acme/x/", f"{SECRETS}7/set/", f"{SECRETS}{2**70}/delete/"):
        assert page(operator, path, 404)


def test_a_value_is_taken_and_never_shown(operator):
    answer = operator.post(f"{SECRETS}add/", form(name="billing", tenant="acme", value=VALUE, hosts="api.example.com"))

    assert answer.status_code == 302
    shown = page(operator, SECRETS)
    assert "billing" in shown and "api.example.com" in shown
    edited = page(operator, f"{SECRETS}{Secret.objects.get().id}/set/")
    assert VALUE not in shown + edited + str(list(deeds().values())) + str(operator.session.items())


def test_one_that_signs_is_made_shown_once_and_not_for_a_form_that_is_sent_again(operator):
    sent = form(name="callbacks", tenant="default")
    first = operator.post(f"{SECRETS}add/", sent)
    again = operator.post(f"{SECRETS}add/", sent)

    [text] = re.findall(r"whsec_[\w+/=]+", first.content.decode())
    assert "no-store" in first.headers["Cache-Control"]
    assert (again.status_code, deeds().count()) == (302, 1)
    assert text not in page(operator, SECRETS)


def test_a_secret_is_changed_withdrawn_and_deleted(operator):
    row = set_secret("callbacks", by(), tenant="default").row
    assert operator.post(f"{SECRETS}{row.id}/set/", form(keep_old="on")).status_code == 200
    assert len(Secret.objects.get().values) == 2
    assert operator.post(f"{SECRETS}{row.id}/withdraw/", form()).status_code == 302
    assert len(Secret.objects.get().values) == 1
    assert operator.post(f"{SECRETS}{row.id}/delete/", form()).status_code == 302
    assert not Secret.objects.exists()


def test_a_bad_value_is_told_without_the_value(operator):
    answer = operator.post(f"{SECRETS}add/", form(name="billing", tenant="acme", value="short-1"))

    assert answer.status_code == 400
    assert "The value of a secret has 8 to" in answer.content.decode() and "short-1" not in answer.content.decode()


def test_who_may_only_look_can_not_act_and_who_may_not_look_sees_nothing(viewer):
    row, other = set_secret("callbacks", by(), tenant="default").row, client_of(person("otto"))
    for path in (f"{HOSTS}add/", f"{SECRETS}add/", f"{SECRETS}{row.id}/set/", f"{SECRETS}{row.id}/delete/"):
        assert viewer.post(path, form(host="x.example.com", rate="1")).status_code == 403
    for path in (HOSTS, SECRETS):
        assert other.get(path).status_code in (302, 403)
    assert Secret.objects.count() == 1

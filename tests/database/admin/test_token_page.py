"""The page of the API's tokens: shown once, revoked for good, by whom and why; who may; and bad input."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from tasks_app.engine.operations.api_tokens import issue, known
from tasks_app.models import ApiToken, AuditEntry
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.operators import operator as by

pytestmark = pytest.mark.django_db

LIST = "/admin/punctual/apitoken/"
ADD = f"{LIST}add/"
VIEW, OPERATE = "punctual.view_apitoken", "punctual.operate_apitoken"
READS = ("punctual.view_scheduletask", "punctual.view_jobdefinition")
WRITES = (*READS, "punctual.operate_scheduletask", "punctual.operate_jobdefinition")
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def operator():
    return client_of(person("olga", VIEW, OPERATE, *WRITES))


def form(**more) -> dict:
    given = {"name": "billing", "tenant": "acme", "may": "operate", "days": "30", "reason": "they asked"}
    return given | {"operation": str(uuid4())} | more


def page(client, path: str = LIST, code: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == code
    return answer.content.decode()


def text_in(answer) -> str | None:
    found = re.search(r"pnc_[\w-]{30,}", answer.content.decode())
    return found and found[0]


def revoke_path(token: ApiToken) -> str:
    return f"{LIST}{token.id}/revoke/"


def test_a_token_is_shown_once_and_works(operator):
    answer = operator.post(ADD, form())
    text = text_in(answer)

    assert answer.status_code == 200 and "no-store" in answer.headers["Cache-Control"]
    assert (known(text).tenant, known(text).can_write) == ("acme", True)
    token = ApiToken.objects.get()
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=31)
    shown = page(operator)
    assert "billing" in shown and token.hint in shown
    assert text not in shown and token.digest not in shown
    assert text not in str(list(deeds().values())) + str(operator.session.items())


def test_no_tenant_is_suggested_and_the_token_names_its_types_and_lanes(operator):
    shown = page(operator, ADD)
    assert not re.search(r'name="tenant"[^>]*value="', shown) and not re.search(r'value="default"', shown)

    usual = known(text_in(operator.post(ADD, form())))
    named = known(text_in(operator.post(ADD, form(types="T_QUIET, T_PLAIN", lanes="critical,low"))))

    assert (usual.types, usual.lanes) == (None, ("high", "default", "low", "deferred", "backfill"))
    assert (named.types, named.lanes) == ({"T_QUIET", "T_PLAIN"}, ("critical", "low"))
    assert "T_PLAIN, T_QUIET" in page(operator) and "critical, low" in page(operator)


def test_a_form_that_is_sent_twice_issues_one_token_and_does_not_show_it_again(operator):
    sent = form()
    operator.post(ADD, sent)
    again = operator.post(ADD, sent)

    assert (again.status_code, again.url) == (302, LIST)
    assert ApiToken.objects.count() == deeds().count() == 1


def test_revoking_is_for_good_and_is_told_with_its_reason(operator):
    token, text = issue("billing", "acme", by())
    assert "never used" in page(operator, revoke_path(token))

    sent = {"reason": "it leaked", "operation": str(uuid4())}
    for _ in range(2):
        assert operator.post(revoke_path(token), sent).url == LIST
    operator.post(revoke_path(token), sent | {"operation": str(uuid4())})

    assert known(text) is None
    entry = AuditEntry.objects.get(verb="revoke")
    assert (entry.actor, entry.subject, entry.reason) == ("olga", f"token {token.id}", "it leaked")
    shown = page(operator)
    assert "revoked" in shown and revoke_path(token) not in shown
    assert "billing no longer works." in shown


def test_the_list_says_which_are_valid_and_when_they_were_used(operator):
    _, used = issue("used", "acme", by())
    issue("old", "acme", by())
    known(used)
    ApiToken.objects.filter(name="old").update(expires_at=timezone.now() - timedelta(seconds=1))

    parts = page(operator).split("<tr>")
    rows = {name: next(part for part in parts if f"<bdi>{name}</bdi>" in part) for name in ("used", "old")}
    assert "valid" in rows["used"] and "<time" in rows["used"].split("never</td>")[1]
    assert "expired" in rows["old"] and "never</td>" in rows["old"]


BAD_FORMS = [
    ({"name": ""}, "required"),
    ({"name": "x" * 101}, "100"),
    ({"name": "a\0"}, "Null characters"),
    ({"tenant": ""}, "required"),
    ({"tenant": "x" * 64}, "63"),
    ({"may": "everything"}, "valid choice"),
    ({"types": "T_QUIT"}, "Did you mean"),
    ({"types": "A," * 300}, "name 1 to 200"),
    ({"lanes": "fast"}, "Lanes are critical"),
    ({"days": "0"}, "more than 0"),
    ({"days": "-1"}, "more than 0"),
    ({"days": "1e300"}, "at most 3,660"),
    ({"days": "nan"}, "number"),
    ({"reason": " "}, "Say briefly why"),
    ({"operation": "x"}, "UUID"),
    ({"operation": ""}, "required"),
]


def test_a_bad_form_is_refused_and_nothing_is_issued(operator):
    for bad, words in BAD_FORMS:
        answer = operator.post(ADD, form(**bad))

        assert answer.status_code == 400, bad
        assert words in answer.content.decode(), bad
        assert not ApiToken.objects.exists() and not deeds().exists(), bad


def test_names_are_shown_as_text(operator):
    answer = operator.post(ADD, form(name=SCRIPT, tenant=SCRIPT))
    token = ApiToken.objects.get()

    for content in (answer.content.decode(), page(operator), page(operator, revoke_path(token))):
        assert SCRIPT not in content and "&lt;script&gt;" in content


@pytest.mark.parametrize("number", ["0", "999", "9" * 30])
def test_a_token_that_is_not_there_can_not_be_revoked(operator, number):
    page(operator, f"{LIST}{number}/revoke/", code=404)


# ---- rights ----


@pytest.mark.parametrize("who", [(), (OPERATE, *WRITES), WRITES], ids=["nobody", "without view", "operator of tasks"])
def test_who_may_not_look_sees_nothing(who):
    token, _ = issue("billing", "acme", by())
    client = client_of(person("sam", *who))

    for path in (LIST, ADD, revoke_path(token)):
        page(client, path, code=403)
    assert "apitoken" not in page(client, "/admin/")


def test_who_may_only_look_changes_nothing_even_by_hand():
    token, text = issue("billing", "acme", by())
    client = client_of(person("vera", VIEW, *WRITES))

    shown = page(client)

    assert "billing" in shown and "/add/" not in shown and "/revoke/" not in shown
    assert client.post(ADD, form()).status_code == client.post(revoke_path(token), form()).status_code == 403
    assert known(text) and ApiToken.objects.count() == 1


def test_nobody_hands_out_more_than_they_have():
    reader = client_of(person("vera", VIEW, OPERATE, *READS))
    refused = reader.post(ADD, form(may="operate"))
    assert (refused.status_code, ApiToken.objects.count()) == (400, 0)
    assert known(text_in(reader.post(ADD, form(may="read")))).can_write is False

    blind = client_of(person("bob", VIEW, OPERATE, READS[0]))
    assert "/add/" not in page(blind)
    assert blind.get(ADD).status_code == blind.post(ADD, form(may="read")).status_code == 403


def test_both_need_a_form_of_ours():
    token, text = issue("billing", "acme", by())
    client = client_of(person("olga", VIEW, OPERATE, *WRITES), enforce_csrf_checks=True)

    assert client.post(ADD, form()).status_code == client.post(revoke_path(token), form()).status_code == 403
    assert known(text) and ApiToken.objects.count() == 1

"""/alarms: rules, channels and incidents of a tenant, and what only operators see."""

import pytest
from django.conf import settings
from django.test import override_settings

from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle.alarms.channels import target_of
from tasks_app.models import AlarmChannel, AlarmRule, AuditEntry, IdempotencyRecord
from tests.support.alarms import ADDRESS, LOCAL, channel, died, look, rule
from tests.support.api import Api
from tests.support.http_receiver import http_receiver
from tests.support.operators import operator
from tests.support.ready import boss

pytestmark = pytest.mark.django_db(transaction=True)

CHANNEL = {"name": "on call", "kind": "webhook", "url": ADDRESS}


@pytest.fixture
def api():
    return Api()


def test_a_channel_and_a_rule_from_nothing_to_an_incident(api):
    made = api.post("/alarms/channels", CHANNEL)
    assert made.status == 201 and made.body["shown"] == "https://hooks.example.com"
    assert made.body["secret"] == target_of(AlarmChannel.objects.get()).secret
    assert "secret" not in api.get(f"/alarms/channels/{made.body['id']}").body

    asked = {"name": "mails", "conditions": ["dead"], "task_types": ["T_*"], "channels": [made.body["id"]]}
    ruled = api.post("/alarms/rules", asked)
    assert (ruled.status, ruled.body["repeat_seconds"], ruled.body["scope"]) == (201, 1_800, "tenant")
    look()
    died(3)
    look()

    (one,) = api.get("/alarms/incidents?open=true").body["items"]
    assert (one["title"], one["count"], one["rule_name"]) == ("3 tasks of T_QUIET gave up: SMTP_DOWN", 3, "mails")
    detail = api.get(f"/alarms/incidents/{one['id']}").body
    assert [(alert["kind"], alert["outcome"]) for alert in detail["alerts"]] == [("opened", "WAITING")]
    assert len(api.get(f"/alarms/channels/{made.body['id']}/alerts").body["items"]) == 1


def test_a_rule_is_changed_by_who_has_read_it_and_deleted(api):
    made = rule()
    path = f"/alarms/rules/{made.id}"
    assert api.get(path).headers["ETag"] == '"1"'
    changed = api.patch(path, {"name": "other", "enabled": False, "reason": "too loud"}, If_Match='"1"')
    assert (changed.body["name"], changed.body["enabled"], changed.headers["ETag"]) == ("other", False, '"2"')
    assert api.patch(path, {"name": "x"}, If_Match='"1"').code == "SCH_412_STALE"
    assert api.patch(path, {"name": None}, If_Match='"2"').code == "SCH_422_INVALID"
    entry = AuditEntry.objects.get(verb="edit")
    assert (entry.actor, entry.reason, entry.tenant) == ("token of default", "too loud", "default")

    assert api.delete(path).status == 204 and not AlarmRule.objects.exists()


def test_null_takes_away_what_need_not_be_there(api):
    made = rule(task_types=("T_*",), conditions=("running",), running_seconds=60)
    given = {"task_types": None, "running_seconds": None, "conditions": ["dead"]}
    changed = api.patch(f"/alarms/rules/{made.id}", given, If_Match="1")
    assert (changed.body["task_types"], changed.body["running_seconds"]) == ([], None)


def test_a_secret_is_kept_in_no_stored_answer(api):
    answer = api.post("/alarms/channels", CHANNEL, Idempotency_Key="k")
    assert answer.status == 201 and not IdempotencyRecord.objects.exists()
    assert api.post("/alarms/channels", CHANNEL).code == "SCH_409_DUPLICATE"


def test_the_test_of_a_channel_says_what_came_of_it(api):
    with http_receiver() as hook, override_settings(PUNCTUAL=settings.PUNCTUAL | {"OUTGOING_ALLOW": LOCAL}):
        made = channel(url=hook.url)
        assert api.post(f"/alarms/channels/{made.id}/test").body["ok"] is True
        hook.status = 500
        assert api.post(f"/alarms/channels/{made.id}/test").body == {"ok": False, "words": "It answered 500."}


# ---- who may ----


def test_a_tenant_sees_and_changes_its_own_alone(api):
    mine, theirs, shared = rule(), rule(tenant="acme"), rule(tenant=None)
    died(1, tenant="acme")
    look()

    assert [one["id"] for one in api.get("/alarms/rules").body["items"]] == [mine.id]
    assert api.get("/alarms/incidents").body["items"] == []
    for other in (theirs, shared):
        for path in (f"/alarms/rules/{other.id}", f"/alarms/channels/{other.channels[0]}"):
            assert api.get(path).status == api.delete(path).status == 404
        assert api.patch(f"/alarms/rules/{other.id}", {"name": "x"}, If_Match="1").status == 404
        assert api.post(f"/alarms/channels/{other.channels[0]}/test").status == 404
        asked = {"name": "r", "conditions": ["dead"], "channels": other.channels}
        assert api.post("/alarms/rules", asked).code == "SCH_422_INVALID"
    for path in ("/alarms/rules", "/alarms/channels", "/alarms/incidents"):
        assert api.get(f"{path}?scope=all").code == "SCH_403_FORBIDDEN"
    assert api.post("/alarms/channels", CHANNEL | {"scope": "all"}).code == "SCH_403_FORBIDDEN"
    assert AlarmRule.objects.count() == AlarmChannel.objects.count() == 3


def test_lists_have_pages(api):
    for name in "cab":
        rule(name, channels=[channel(name)])
    for path in ("/alarms/rules", "/alarms/channels"):
        first = api.get(f"{path}?limit=2").body
        assert ([one["name"] for one in first["items"]], first["next"]) == (["a", "b"], "b")
        assert [one["name"] for one in api.get(f"{path}?limit=2&after=b").body["items"]] == ["c"]


def test_operators_make_those_of_all_tenants():
    api = boss()
    made = api.post("/alarms/channels", CHANNEL | {"scope": "all"}).body
    asked = {"name": "r", "conditions": ["trouble"], "channels": [made["id"]], "scope": "all"}
    assert api.post("/alarms/rules", asked).status == 201
    assert [one["scope"] for one in api.get("/alarms/rules?scope=all").body["items"]] == ["all"]


def test_mail_is_not_for_tokens(api):
    asked = {"name": "m", "kind": "email", "to": ["victim@example.com"]}
    assert api.post("/alarms/channels", asked).code == "SCH_403_FORBIDDEN"


def test_a_token_for_some_types_has_to_do_with_alarms_for_these_alone():
    narrow = Api(token=issue("narrow", "default", operator(), can_write=True, types=["T_PLAIN"])[1])
    wide, own = rule("wide"), rule("own", task_types=("T_PLAIN",))
    died(1)
    died(1, task_type="T_PLAIN")
    look()

    assert [one["id"] for one in narrow.get("/alarms/rules").body["items"]] == [own.id]
    assert narrow.get(f"/alarms/rules/{wide.id}").status == 404
    assert {one["task_type"] for one in narrow.get("/alarms/incidents").body["items"]} == {"T_PLAIN"}
    asked = {"name": "r", "conditions": ["dead"], "channels": own.channels}
    for types in ([], ["T_*"], ["T_PLAIN", "T_QUIET"]):
        assert narrow.post("/alarms/rules", asked | {"task_types": types}).code == "SCH_403_TYPE_CLOSED"
    assert narrow.patch(f"/alarms/rules/{own.id}", {"task_types": ["*"]}, If_Match="1").code == "SCH_403_TYPE_CLOSED"
    assert AlarmRule.objects.get(id=own.id).task_types == ["T_PLAIN"], "what was done is undone"
    assert narrow.post("/alarms/rules", asked | {"task_types": ["T_PLAIN"]}).status == 201


@pytest.mark.parametrize(
    "bad",
    [
        {"conditions": ["dies"]},
        {"conditions": []},
        {"channels": [0]},
        {"channels": ["x"]},
        {"late_seconds": 5},
        {"enabled": "maybe"},
        {"colour": "red"},
        {"name": "\x1b"},
    ],
    ids=str,
)
def test_a_bad_rule_is_refused(api, bad):
    asked = {"name": "r", "conditions": ["dead"], "channels": [channel().id]}
    assert api.post("/alarms/rules", asked | bad).code == "SCH_422_INVALID"
    assert not AlarmRule.objects.exists()

"""Callbacks through the API: who may have them made, /secrets, which are never read, and /hosts."""

from collections.abc import Iterator

import pytest
from django.db.models.functions import Now

from tasks_app import outgoing
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.models import HostHealth, IdempotencyRecord, JobDefinition, Secret
from tests.support.api import Api
from tests.support.audit import deeds
from tests.support.engine import row, run_due
from tests.support.operators import operator
from tests.support.ready import boss
from tests.support.receiver import HERE, Receiver, receiver

pytestmark = pytest.mark.django_db
VALUE = "sk_live_0123456789"


@pytest.fixture
def there(settings) -> Iterator[Receiver]:
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE}
    with receiver() as one:
        yield one
    outgoing.client._client("").close()


@pytest.fixture
def caller(api) -> Api:
    """Of a token whose scope names the type."""
    return with_types("default")


def with_types(tenant: str, **options: object) -> Api:
    token = issue(f"of {tenant}", tenant, operator(), types=[HTTP_CALLBACK], **{"can_write": True} | options)
    return Api(token=token[1])


def task(there: Receiver, **payload: object) -> dict:
    return {"task_type": HTTP_CALLBACK, "key": "a", "payload": {"url": there.url, "sign": ""} | payload}


def test_a_token_may_have_callbacks_made_if_its_scope_names_them_and_else_not(api, caller, there):
    assert api.post("/tasks", task(there)).code == "SCH_403_TYPE_CLOSED"
    assert HTTP_CALLBACK not in [one["name"] for one in api.get("/task-types").body["items"]]

    made = caller.post("/tasks", task(there))
    run_due()

    assert made.status == 201
    assert (row(made.body["id"]).status, len(there.calls)) == ("SUCCESS", 1)
    [described] = caller.get("/task-types").body["items"]
    assert described["payload_schema"]["properties"].keys() >= {"url", "method", "headers", "json", "timeout"}


def test_a_job_may_be_a_callback(caller, there):
    body = {"name": "report", "task_type": HTTP_CALLBACK, "every": 60, "payload": {"url": there.url, "sign": ""}}

    made = caller.post("/jobs", body)

    assert made.status == 201, made.body
    assert JobDefinition.objects.get().payload["url"] == there.url
    refused = caller.post("/jobs", body | {"name": "b", "payload": {"url": "http://169.254.169.254/"}})
    assert (refused.code, "link-local" in refused.body["detail"]) == ("SCH_422_INVALID", True)


def test_a_secret_can_be_set_and_is_nowhere_to_be_read(caller):
    made = caller.put("/secrets/billing", {"value": VALUE, "hosts": ["api.example.com"]})

    assert made.status == 200, made.body
    assert (made.body["signs"], made.body["hosts"], made.body["made"]) == (False, ["api.example.com"], None)
    told = str([made.body, caller.get("/secrets").body, list(Secret.objects.values()), list(deeds().values())])
    assert VALUE not in told + str(list(IdempotencyRecord.objects.values()))


def test_one_that_signs_is_made_and_told_once(caller):
    made = caller.put("/secrets/callbacks", {}).body

    assert made["made"].startswith("whsec_") and made["signs"]
    assert made["made"] not in str([caller.get("/secrets").body, list(deeds().values())])
    assert caller.put("/secrets/callbacks", {"keep_old": True}).body["values"] == 2
    assert caller.post("/secrets/callbacks/withdraw").body["values"] == 1


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("a%20b", {}, "the name of a secret"),
        ("billing", {"value": "short"}, "The value of a secret has 8 to"),
        ("billing", {"value": VALUE, "hosts": ["https://x/"]}, "must be a host"),
    ],
)
def test_what_makes_no_secret_is_refused_without_its_value(caller, name, body, words):
    refused = caller.put(f"/secrets/{name}", body)

    assert (refused.code, words in refused.body["detail"]) == ("SCH_422_INVALID", True), refused.body
    assert "short" not in refused.body["detail"]


def test_secrets_are_of_one_tenant(caller):
    set_secret("billing", operator(), tenant="acme", value=VALUE)

    assert caller.get("/secrets").body["items"] == []
    assert caller.delete("/secrets/billing").code == "SCH_404_NOT_FOUND"
    assert with_types("acme").delete("/secrets/billing").status == 204


def test_whoever_may_not_have_callbacks_made_has_nothing_to_do_with_their_secrets(api, caller):
    for method, path in [("GET", "/secrets"), ("PUT", "/secrets/a"), ("DELETE", "/secrets/a")]:
        assert api.call(method, path, {} if method == "PUT" else None).code == "SCH_403_TYPE_CLOSED"
    assert with_types("default", can_write=False).put("/secrets/a", {}).code == "SCH_403_FORBIDDEN"


def test_an_operator_limits_a_host_and_a_tenant_does_not(caller):
    assert caller.put("/hosts/api.example.com", {"max_running": 5}).code == "SCH_403_FORBIDDEN"

    made = boss().put("/hosts/API.example.com:8443", {"rate": 20, "reason": "they asked"})

    assert (made.body["host"], made.body["burst"], made.body["running"]) == ("api.example.com:8443", 20.0, 0)
    assert [one["host"] for one in boss().get("/hosts").body["limits"]] == ["api.example.com:8443"]
    assert caller.get("/hosts").body == {"limits": [], "unwell": []}
    assert boss().put("/hosts/x.example.com", {}).code == "SCH_422_INVALID"
    assert boss().delete("/hosts/api.example.com:8443").status == 204
    assert boss().delete("/hosts/api.example.com:8443").code == "SCH_404_NOT_FOUND"


def test_a_tenant_sees_its_own_hosts_that_are_unwell_and_has_one_tried(caller):
    for tenant in ("default", "acme"):
        HostHealth.objects.create(tenant=tenant, host="a.example.com", tasks=[1], unwell_since=Now(), try_at=Now())

    assert [one["tenant"] for one in caller.get("/hosts").body["unwell"]] == ["default"]
    assert len(boss().get("/hosts").body["unwell"]) == 2
    assert caller.post("/hosts/a.example.com/try").body == {"host": "a.example.com", "changed": True}
    assert caller.post("/hosts/b.example.com/try").code == "SCH_404_NOT_FOUND"

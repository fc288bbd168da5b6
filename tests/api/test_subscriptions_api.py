"""/subscriptions: made, changed, tried out, paused and resumed, by whom; the secret is told once and kept nowhere."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from django_punctual import ToStream, ToWebhook, subscribe
from tasks_app import outgoing
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.models import Delivery, IdempotencyRecord, Subscription
from tests.support.api import Api
from tests.support.audit import deeds
from tests.support.operators import operator
from tests.support.ready import boss
from tests.support.receiver import HERE, Receiver, Reply, receiver

pytestmark = pytest.mark.django_db

URL = "https://hooks.example.com/punctual"
SHOP = {"name": "shop", "events": ["task.dead"], "target": {"url": URL}}
EVER = "2026-11-01T00:00:00Z"


@pytest.fixture
def there(settings) -> Iterator[Receiver]:
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE}
    with receiver() as one:
        yield one
    outgoing.client._client("").close()


def made(api: Api, **more: object) -> dict:
    answer = api.post("/subscriptions", SHOP | more)
    assert answer.status == 201, answer.body
    return answer.body


def at(one: dict, verb: str = "") -> str:
    return f"/subscriptions/{one['id']}{verb}"


def test_a_subscription_is_made_for_the_tenant_of_the_token_and_its_secret_told_once(api):
    one = made(api)

    row = Subscription.objects.get()
    assert (row.tenant, row.events, row.target, row.state) == ("default", ["task.dead"], {"url": URL}, "ACTIVE")
    assert one["secret"].startswith("whsec_") and (one["scope"], one["secrets"]) == ("tenant", 1)
    told = str([api.get(at(one)).body, api.get("/subscriptions").body, list(Subscription.objects.values())])
    assert one["secret"] not in told
    assert one["secret"] not in str(list(IdempotencyRecord.objects.values())) + str(list(deeds().values()))
    assert [item["name"] for item in api.get("/subscriptions").body["items"]] == ["shop"]


def test_a_name_is_taken_once(api):
    made(api)

    again = api.post("/subscriptions", SHOP | {"events": ["*"]})

    assert (again.status, again.code) == (409, "SCH_409_DUPLICATE")
    assert "There is a subscription 'shop' of tenant 'default' already." in again.body["detail"]
    assert Subscription.objects.get().events == ["task.dead"]
    assert made(Api("acme"))["name"] == "shop"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"events": []}, "events is empty"),
        ({"events": ["task.deed"]}, "task.deed"),
        ({"events": ["*" * 40 + "z"]}, "has 40 wildcards (*); a pattern has at most 5"),
        ({"task_types": ["*" * 40 + "z"]}, "has 40 wildcards (*); a pattern has at most 5"),
        ({"target": {}}, "the target of a webhook needs url"),
        ({"target": {"url": "http://127.0.0.1/"}}, "127.0.0.1"),
        ({"target": {"url": "ftp://example.com"}}, "ftp://example.com"),
        ({"target": {"adress": URL}}, "target has 'adress'"),
        ({"sink": "pigeon"}, "pigeon"),
        ({"name": ""}, "subscription is empty"),
        ({"since": "yesterday"}, "is not a time"),
        ({"since": "2190-01-01T00:00:00Z"}, "a hundred years"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_reason(api, change, words):
    answer = api.post("/subscriptions", SHOP | change)

    assert (answer.status, answer.code) == (422, "SCH_422_INVALID"), answer.body
    assert words in answer.body["detail"] or change.get("sink")
    assert not Subscription.objects.exists()


def test_a_tenants_token_has_webhooks_of_its_own_tenant_and_nothing_else(api):
    stream = {"sink": "stream", "target": {"stream": "orders"}}

    for change in (stream, {"sink": "python", "target": {"name": "any"}}, {"scope": "all"}):
        answer = api.post("/subscriptions", SHOP | change)
        assert (answer.status, answer.code) == (403, "SCH_403_FORBIDDEN"), change
    assert not Subscription.objects.exists()

    everybodys = made(boss(), scope="all", **stream)
    assert (everybodys["scope"], everybodys["secret"]) == ("all", None)
    assert Subscription.objects.get().tenant is None
    assert api.get(at(everybodys)).status == 404 and api.get("/subscriptions").body["items"] == []
    assert boss().get(at(everybodys)).body["target"] == {"stream": "orders", "maxlen": 100_000, "broker": ""}


def test_a_token_of_some_types_subscribes_to_those_and_sees_no_others(api):
    some = Api(token=issue("some", "default", operator(), can_write=True, types=["T_QUIET", "T_PLAIN"])[1])

    for wanted in ([], ["T_*"], ["T_QUIET", "T_BATCH"]):
        answer = some.post("/subscriptions", SHOP | {"task_types": wanted})
        assert (answer.status, answer.code) == (403, "SCH_403_FORBIDDEN"), wanted
    own, others = made(some, task_types=["T_QUIET"]), made(api, name="all of it")

    assert [one["id"] for one in some.get("/subscriptions").body["items"]] == [own["id"]]
    assert some.get(at(others)).status == 404
    assert some.patch(at(own), {"task_types": []}).code == "SCH_403_FORBIDDEN"


def test_a_subscription_is_changed_and_keeps_what_is_not_named(api):
    one = made(api, task_types=["T_QUIET"])

    changed = api.patch(at(one), {"events": ["task.*", "!task.failed"], "reason": "more of them"})

    assert (changed.status, changed.body["events"]) == (200, ["task.*", "!task.failed"])
    assert (changed.body["task_types"], changed.body["target"], changed.body["secret"]) == (
        ["T_QUIET"],
        {"url": URL},
        None,
    )
    assert api.patch(at(one), {"sink": "stream"}).code == "SCH_422_INVALID"
    assert api.patch(at(one), {"target": {"url": "http://10.0.0.1/"}}).code == "SCH_422_INVALID"
    assert Subscription.objects.get().target == {"url": URL}


def test_an_active_one_can_not_be_resumed_from_a_time(api):
    one = made(api)
    before = Subscription.objects.values().get()

    refused = api.post(at(one, "/resume"), {"reason": "again", "since": EVER})

    assert (refused.status, refused.code) == (422, "SCH_422_INVALID")
    assert refused.body["detail"] == (
        "since: subscription default/shop is active, so it can't be resumed from a time. Replay it from then on, "
        "or pause it first."
    )
    assert Subscription.objects.values().get() == before
    assert api.post(at(one, "/resume"), {"reason": "again"}).status == 200  # sent twice


def test_it_says_which_of_its_patterns_match_events_that_are_not_kept(api, settings):
    settings.PUNCTUAL = {name: value for name, value in settings.PUNCTUAL.items() if name != "EVENTS"}

    one = made(api, events=["task.*", "!task.created", "job.paused"])

    missing = [{"pattern": "task.*", "events": ["task.released", "task.succeeded"]}]
    assert one["not_kept"] == api.get(at(one)).body["not_kept"] == missing
    assert api.get("/subscriptions").body["items"][0]["not_kept"] == missing
    assert api.patch(at(one), {"events": ["task.dead"]}).body["not_kept"] == []


def test_it_is_paused_and_resumed_from_where_it_stopped_or_from_a_time(api):
    one = made(api)
    Subscription.objects.update(window_no=7, row_id=3)

    paused = api.post(at(one, "/pause"), {"reason": "moving"}, Idempotency_Key="a")
    again = api.post(at(one, "/pause"), {"reason": "moving"}, Idempotency_Key="a")
    resumed = api.post(at(one, "/resume"), {"reason": "back"})

    assert (paused.body["state"], paused.body["state_reason"], again.body) == ("PAUSED", "moving", paused.body)
    assert (resumed.body["state"], Subscription.objects.get().window_no) == ("ACTIVE", 7)
    api.post(at(one, "/pause"), {"reason": "moving"})
    assert api.post(at(one, "/resume"), {"reason": "back", "since": EVER}).status == 200
    assert Subscription.objects.get().since == timezone.datetime.fromisoformat(EVER)


def test_what_was_delivered_is_delivered_again_from_a_time_on(api):
    one = made(api)

    assert api.post(at(one, "/replay"), {"reason": "it lost a day", "since": EVER}).body["state"] == "ACTIVE"

    assert Subscription.objects.get().since == timezone.datetime.fromisoformat(EVER)
    assert api.post(at(one, "/replay"), {"reason": "when?"}).code == "SCH_422_INVALID"


def test_secrets_are_added_and_the_old_ones_withdrawn(api):
    one = made(api)
    own = "whsec_" + "QUJD" * 10

    new = api.post(at(one, "/secrets"))
    assert (new.status, new.body["secret"].startswith("whsec_")) == (201, True)
    assert api.post(at(one, "/secrets"), {"secret": own}).body == {"secret": own}
    assert api.get(at(one)).body["secrets"] == 3
    assert api.post(at(one, "/secrets"), {"secret": "whsec_short"}).code == "SCH_422_INVALID"
    assert api.post(at(one, "/secrets/withdraw"), {"reason": "they have it"}).body == {"withdrawn": 2}
    assert api.get(at(one)).body["secrets"] == 1


def test_a_test_event_goes_to_the_receiver_now_whatever_its_state(api, there):
    there.reply = lambda call: Reply(200, b"thank you")
    one = made(api, target={"url": there.url})
    api.post(at(one, "/pause"), {"reason": "not yet"})

    said = api.post(at(one, "/test")).body

    assert (said["delivered"], said["response"], said["said"]) == (True, "200", "thank you")
    [call] = there.calls
    event = call.verified(one["secret"])
    assert (event["type"], event["tenant"], event["data"]) == ("test.event", "default", {"by": "token of default"})
    assert call.id.startswith("0-")
    [delivery] = api.get(at(one, "/deliveries")).body["items"]
    assert (delivery["ok"], delivery["event_ids"], delivery["said"]) == (True, [call.id], "thank you")
    assert "test" in [deed["verb"] for deed in deeds().values("verb")]


def test_a_test_event_that_is_not_taken_says_why(api, there):
    one = made(api, target={"url": there.url})
    there.reply = lambda call: Reply(500, b"broken")

    assert api.post(at(one, "/test")).body | {"ms": 0} == {
        "delivered": False,
        "response": "500",
        "ms": 0,
        "said": "broken",
    }
    there.stop()
    away = api.post(at(one, "/test")).body
    assert not away["delivered"] and away["said"]
    there.start()
    assert Subscription.objects.get().attempts == 0 and Delivery.objects.count() == 2


def test_deliveries_are_listed_the_latest_first_page_by_page(api):
    one = subscribe("s", events=["*"], to=ToStream("s"), tenant="default")
    for n in range(5):
        Delivery.objects.create(subscription_id=one.id, ok=True, status=str(n), ms=1, count=1, event_ids=[f"{n}-1"])

    first = api.get(f"/subscriptions/{one.id}/deliveries?limit=3").body
    second = api.get(f"/subscriptions/{one.id}/deliveries?limit=3&after={first['next']}").body

    assert [item["response"] for item in first["items"] + second["items"]] == ["4", "3", "2", "1", "0"]
    assert second["next"] is None


def test_a_deleted_subscription_is_gone_with_its_deliveries(api):
    one = made(api)
    Delivery.objects.create(subscription_id=one["id"], ok=True, status="200", ms=1, count=1, event_ids=["1-1"])

    assert api.delete(at(one)).status == 204

    assert not Subscription.objects.exists() and not Delivery.objects.exists()
    assert api.get(at(one)).status == 404


def test_how_far_it_is_behind_is_told(api):
    one = subscribe("s", events=["*"], to=ToWebhook(URL), tenant="default", since=timezone.now() - timedelta(days=1))

    told = api.get(f"/subscriptions/{one.id}").body

    assert (told["waiting_events"], told["waiting_seconds"]) == (0, None)


def test_a_token_that_only_reads_changes_nothing(api):
    one = made(api)
    reader = Api(can_write=False)

    assert reader.get(at(one)).status == 200
    for verb in ("/test", "/secrets"):
        assert reader.post(at(one, verb)).code == "SCH_403_FORBIDDEN"

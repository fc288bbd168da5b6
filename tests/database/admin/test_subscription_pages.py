"""The pages of subscriptions: what they show, the secret once, the test event, orders with reasons; and who may."""

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db.models.functions import Now
from django.test import Client

from django_punctual import ToStream, ToWebhook, subscribe
from tasks_app import outgoing
from tasks_app.models import AuditEntry, Delivery, OutboxEvent, OutboxWindow, Subscription
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of, page
from tests.support.receiver import HERE, Receiver, Reply, receiver

pytestmark = pytest.mark.django_db

LIST = "/admin/punctual/subscription/"
ADD = f"{LIST}add/"
VIEW, OPERATE = "punctual.view_subscription", "punctual.operate_subscription"
URL = "https://hooks.example.com/punctual"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def operator() -> Client:
    return client_of(person("olga", VIEW, OPERATE))


@pytest.fixture
def viewer() -> Client:
    return client_of(person("vera", VIEW))


@pytest.fixture
def there(settings) -> Iterator[Receiver]:
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE}
    with receiver() as one:
        yield one
    outgoing.client._client("").close()


def form(**more: object) -> dict:
    given = {"name": "shop", "tenant": "acme", "events": "task.dead, task.late", "sink": "webhook", "url": URL}
    return given | {"reason": "they asked", "operation": str(uuid4())} | more


def order(**more: object) -> dict:
    return {"reason": "it has to be", "operation": str(uuid4())} | more


def webhook(**more: object) -> Subscription:
    return subscribe("shop", **{"events": ["task.*"], "to": ToWebhook(URL), "tenant": "acme"} | more)


def test_a_webhook_is_made_and_its_secret_shown_once(operator):
    answer = operator.post(ADD, form())

    row = Subscription.objects.get()
    secret = re.search(r"whsec_[\w+/=]+", answer.content.decode())[0]
    assert answer.status_code == 200 and "no-store" in answer.headers["Cache-Control"]
    assert (row.name, row.tenant, row.events, row.target) == ("shop", "acme", ["task.dead", "task.late"], {"url": URL})
    assert secret not in page(operator, LIST) + page(operator, f"{LIST}{row.id}/change/")
    assert secret not in str(list(deeds().values())) + str(operator.session.items())
    entry = AuditEntry.objects.get(subject="subscription acme/shop")
    assert (entry.actor, entry.verb, entry.reason) == ("olga", "subscribe", "they asked")


def test_a_form_that_is_sent_twice_makes_one_subscription_and_shows_no_secret_again(operator):
    sent = form()
    operator.post(ADD, sent)

    again = operator.post(ADD, sent, follow=True)

    assert Subscription.objects.count() == 1 and len(Subscription.objects.get().secrets) == 1
    assert "whsec_" not in again.content.decode()


def test_every_kind_of_receiver_has_its_own_fields(operator):
    operator.post(ADD, form(name="stream", tenant="", sink="stream", stream="orders", maxlen="500"))

    row = Subscription.objects.get()
    assert (row.tenant, row.target) == (None, {"stream": "orders", "maxlen": 500, "broker": ""})
    shown = page(operator, f"{LIST}{row.id}/change/")
    assert "those of all tenants" in shown and "orders" in shown and "secret" not in shown.split("What people did")[0]


def test_a_stream_without_a_length_gets_the_usual_one(operator):
    answer = operator.post(ADD, form(sink="stream", tenant="", stream="orders", maxlen=""))

    assert answer.status_code == 302, answer.content.decode()
    assert Subscription.objects.get().target == {"stream": "orders", "maxlen": 100_000, "broker": ""}


NO_SENSE = [
    ({"events": ""}, "This field is required."),
    ({"events": "task.deed"}, "task.deed"),
    ({"url": "http://10.1.2.3/"}, "10.1.2.3"),
    ({"sink": "queue", "broker": "rabbit", "queue": "q"}, "not in PUNCTUAL"),
    ({"sink": "python", "function": "nobody"}, "there is no subscriber"),
    ({"reason": ""}, "Say briefly why"),
]


def test_what_makes_no_sense_is_told_and_nothing_written(operator):
    for change, words in NO_SENSE:
        answer = operator.post(ADD, form(**change))

        assert answer.status_code == 400, change
        assert words in answer.content.decode() and 'value="shop"' in answer.content.decode(), change
        assert not Subscription.objects.exists(), change


def test_a_name_that_is_taken_is_told(operator):
    webhook()

    answer = operator.post(ADD, form())

    assert answer.status_code == 400 and "already" in answer.content.decode()
    assert Subscription.objects.get().events == ["task.*"]


def test_a_subscription_is_edited(operator):
    row = webhook()
    assert URL in page(operator, f"{LIST}{row.id}/edit/")

    operator.post(f"{LIST}{row.id}/edit/", form(events="task.dead", task_types="T_QUIET", url=f"{URL}/2"))

    row.refresh_from_db()
    assert (row.events, row.task_types, row.target) == (["task.dead"], ["T_QUIET"], {"url": f"{URL}/2"})
    assert (row.name, row.tenant, len(row.secrets)) == ("shop", "acme", 1)


def test_the_list_shows_state_and_lag_and_nothing_is_taken_for_html(viewer):
    row = subscribe(SCRIPT, events=["*"], to=ToStream("s"))
    Subscription.objects.update(attempts=3, last_error=SCRIPT, state="SUSPENDED", reason="gone for a day")

    shown = page(viewer, LIST) + page(viewer, f"{LIST}{row.id}/change/")

    assert SCRIPT not in shown and "&lt;script&gt;" in shown
    assert "SUSPENDED" in shown and "gone for a day" in shown and "3 in a row" in shown
    assert "New subscription" not in shown and "Send a test event" not in shown


def test_the_last_deliveries_are_shown_with_their_answers(viewer):
    row = webhook()
    Delivery.objects.create(subscription_id=row.id, ok=True, status="200", ms=35.2, count=1, event_ids=["7-1"])
    Delivery.objects.create(
        subscription_id=row.id, ok=False, status="503", ms=1200, count=9, event_ids=["7-2"], answer=f"later {SCRIPT}"
    )

    shown = page(viewer, f"{LIST}{row.id}/change/")

    assert shown.index("503") < shown.index("35.2 ms")
    assert "9: 7-2, …" in shown and "later &lt;script&gt;" in shown


def test_the_button_sends_a_test_event_and_says_what_came_of_it(operator, there):
    row = webhook(to=ToWebhook(there.url))

    good = operator.post(f"{LIST}{row.id}/test/", follow=True).content.decode()
    there.reply = lambda call: Reply(418, b"a teapot")
    bad = operator.post(f"{LIST}{row.id}/test/", follow=True).content.decode()

    assert "The test event was delivered in" in good
    assert "The test event was not delivered: 418. a teapot" in bad
    assert [call.event["type"] for call in there.calls] == ["test.event"] * 2
    assert len({call.id for call in there.calls}) == 2
    assert page(operator, f"{LIST}{row.id}/test/", 405) is not None


def test_a_pause_and_a_resume_have_reasons(operator):
    row = webhook()
    at = f"{LIST}{row.id}/order/"

    assert operator.post(f"{at}pause/", order(reason="")).status_code == 400
    operator.post(f"{at}pause/", order(reason="moving house"))
    row.refresh_from_db()
    assert (row.state, row.reason) == ("PAUSED", "moving house")
    assert "moving house" in page(operator, f"{LIST}{row.id}/change/")
    assert operator.post(f"{at}pause/", order()).status_code == 400
    operator.post(f"{at}resume/", order(since="2026-11-01T00:00"))
    row.refresh_from_db()
    assert (row.state, row.since.isoformat()) == ("ACTIVE", "2026-11-01T00:00:00+00:00")
    assert [one.verb for one in AuditEntry.objects.order_by("id")][-2:] == ["pause", "resume"]


def test_an_active_one_is_not_resumed_from_a_time(operator):
    row = webhook()

    answer = operator.post(f"{LIST}{row.id}/order/resume/", order(since="2026-11-01T00:00"))

    assert answer.status_code == 400
    assert "is active, so it can&#x27;t be resumed from a time. Replay it" in answer.content.decode()


def test_its_page_names_the_events_that_are_not_kept(operator, settings):
    row = webhook(events=["lane.*"])
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": ["job.*"]}

    shown = page(operator, f"{LIST}{row.id}/change/")

    assert "<code>lane.*</code> matches events that this installation does not keep" in shown
    assert "lane.paused, lane.resumed" in shown


def test_old_deliveries_need_a_time_to_come_again(operator):
    row = webhook()
    at = f"{LIST}{row.id}/order/replay/"

    assert operator.post(at, order()).status_code == 400
    assert operator.post(at, order(since="2026-11-01T00:00")).status_code == 302
    row.refresh_from_db()
    assert row.since.isoformat() == "2026-11-01T00:00:00+00:00"


def test_the_event_that_is_never_taken_is_named_and_can_be_skipped(operator, viewer):
    row = webhook()
    at = f"{LIST}{row.id}/"
    assert "Skip one event" not in page(operator, f"{at}change/")
    event = OutboxEvent.objects.create(tenant="acme", event="task.dead", task_type="T_QUIET", count=1, keys=[SCRIPT])
    event.refresh_from_db()
    window = OutboxWindow.objects.create(
        no=row.window_no,
        after="1:1:",
        min_id=event.id,
        max_id=event.id,
        min_at=event.created_at,
        max_at=event.created_at,
        count=1,
        system=1,
    )
    Subscription.objects.filter(id=row.id).update(failing_since=Now(), attempts=3, last_error="400: no")

    for path in (f"{at}change/", f"{at}order/skip/"):
        assert f"{event.id}-1" in page(operator, path) and SCRIPT not in page(operator, path)
    assert operator.post(f"{at}order/skip/", order(event="1-9")).status_code == 400
    assert operator.post(f"{at}order/skip/", order(event=f"{event.id}-1")).status_code == 302
    row.refresh_from_db()
    assert (row.window_no, row.row_id, row.place, row.attempts) == (window.no, event.id, 1, 0)


def test_secrets_are_added_and_withdrawn(operator):
    row = webhook()
    at = f"{LIST}{row.id}/order/"

    shown = operator.post(f"{at}secret/", order()).content.decode()
    assert re.search(r"whsec_[\w+/=]+", shown)
    row.refresh_from_db()
    assert len(row.secrets) == 2 and "Withdraw old secrets" in page(operator, f"{LIST}{row.id}/change/")
    operator.post(f"{at}withdraw/", order())
    row.refresh_from_db()
    assert len(row.secrets) == 1


def test_a_deleted_subscription_is_gone(operator):
    row = webhook()

    operator.post(f"{LIST}{row.id}/order/delete/", order())

    assert not Subscription.objects.exists()
    assert page(operator, f"{LIST}{row.id}/change/", 404) and page(operator, f"{LIST}{row.id}/order/pause/", 404)


def test_who_may_only_look_changes_nothing_and_strangers_see_nothing(viewer):
    row = webhook()
    stranger = client_of(person("sam"))
    paths = [ADD, f"{LIST}{row.id}/edit/", f"{LIST}{row.id}/test/", f"{LIST}{row.id}/order/delete/"]

    for path in paths:
        assert viewer.post(path, order()).status_code == 403, path
    for path in (LIST, f"{LIST}{row.id}/change/", *paths[:2]):
        assert stranger.get(path).status_code == 403, path
    assert Subscription.objects.get().state == "ACTIVE" and not Delivery.objects.exists()


def test_an_order_that_does_not_exist_is_not_found(operator):
    row = webhook()

    assert page(operator, f"{LIST}{row.id}/order/burn/", 404) and page(operator, f"{LIST}999999/change/", 404)
    assert page(operator, f"{LIST}{'9' * 30}/change/", 404)

"""Subscribing: bad input changes nothing and says what is wrong; calling it again changes nothing either."""

from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from django_punctual import (
    InvalidTask,
    Operator,
    ToFunction,
    ToQueue,
    ToStream,
    ToWebhook,
    subscribe,
    subscriptions,
    unsubscribe,
)
from tasks_app.core.errors import NotThere
from tasks_app.core.targets import target_of
from tasks_app.models import AuditEntry, Delivery, Subscription
from tests.support.outbox import subscribed

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _a_function():
    with subscribed():
        yield


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": ""}, "subscription"),
        ({"name": "a\x07"}, "control character"),
        ({"events": []}, "events is empty"),
        ({"events": "task.dead"}, "must be a list"),
        ({"events": ["task.ded"]}, "Did you mean 'task.dead'"),
        ({"events": ["Task Dead!"]}, "no pattern for events"),
        ({"events": ["task.dead"] * 101}, "100 is the most"),
        ({"task_types": ["T\x00"]}, "task_types"),
        ({"to": "https://example.com"}, "ToFunction, ToStream, ToQueue or ToWebhook"),
        ({"to": ToFunction("tset")}, "Did you mean 'test'"),
        ({"to": ToStream("a b")}, "letters, digits"),
        ({"to": ToStream("a", maxlen=0)}, "maxlen is 0"),
        ({"to": ToStream("a", broker="rabbit")}, "no Redis"),
        ({"to": ToQueue("rabit", "q")}, "Did you mean 'rabbit'"),
        ({"to": ToQueue("rabbit", "")}, "queue is ''"),
        ({"to": ToWebhook("ftp://example.com")}, "https://"),
        ({"since": datetime(2026, 1, 1)}, "is naive"),  # noqa: DTZ001
        ({"tenant": ""}, "tenant"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(settings, given, words):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BROKERS": {"rabbit": "amqp://guest:guest@127.0.0.1//"}}
    asked = {"name": "test", "events": ["*"], "to": ToFunction("test")} | given

    with pytest.raises(InvalidTask, match=words.replace("(", r"\(")):
        subscribe(**asked)

    assert not Subscription.objects.exists()
    assert not AuditEntry.objects.exists()


def test_a_kind_that_is_not_kept_is_refused_with_the_name_of_the_setting(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": ["*", "!task.succeeded"]}

    with pytest.raises(InvalidTask, match=r'does not keep: PUNCTUAL\["EVENTS"\] is'):
        subscribe("test", events=["task.succeeded"], to=ToFunction("test"))


def test_the_same_again_changes_nothing_and_another_wish_changes_it():
    first = subscribe("test", events=["task.dead"], to=ToFunction("test"))
    again = subscribe("test", events=["task.dead"], to=ToFunction("test"))
    changed = subscribe("test", events=["task.*"], to=ToStream("s"))

    assert (again.id, again.fence) == (first.id, first.fence)
    assert (changed.id, changed.events, changed.sink) == (first.id, ["task.*"], "stream")
    assert changed.target == {"stream": "s", "maxlen": 100_000, "broker": ""}
    assert changed.fence > first.fence
    assert [one.outcome for one in AuditEntry.objects.order_by("id")] == ["created", "changed"]


def test_a_name_is_free_again_for_another_tenant():
    subscribe("test", events=["*"], to=ToFunction("test"))
    subscribe("test", events=["*"], to=ToFunction("test"), tenant="acme")

    assert subscriptions.find_subscription("test", tenant="acme").tenant == "acme"
    assert subscriptions.find_subscription("test").tenant is None
    with pytest.raises(NotThere, match="Did you mean 'test'"):
        subscriptions.find_subscription("tset")


def test_a_rolled_back_subscription_is_none():
    with transaction.atomic():
        subscribe("test", events=["*"], to=ToFunction("test"))
        transaction.set_rollback(True)

    assert not Subscription.objects.exists()


def test_unsubscribing_forgets_it_with_its_deliveries():
    row = subscribe("test", events=["*"], to=ToFunction("test"))
    Delivery.objects.create(subscription_id=row.id, ok=True, status="200", ms=1, count=1, event_ids=["1-1"])

    assert unsubscribe("test")
    assert not unsubscribe("test")
    assert not (Subscription.objects.exists() or Delivery.objects.exists())


def test_pausing_twice_is_no_deed():
    subscribe("test", events=["*"], to=ToFunction("test"))

    assert subscriptions.pause_subscription("test", Operator("olga", "quiet"))
    assert not subscriptions.pause_subscription("test", Operator("olga", "quiet"))
    assert subscriptions.find_subscription("test").reason == "quiet"
    assert subscriptions.resume_subscription("test", Operator("olga", "go on"))
    assert not subscriptions.resume_subscription("test", Operator("olga", "go on"))
    assert (subscriptions.find_subscription("test").state, subscriptions.find_subscription("test").reason) == (
        "ACTIVE",
        "",
    )


def test_a_replay_says_since_when():
    subscribe("test", events=["*"], to=ToFunction("test"))
    moment = timezone.now() - timedelta(hours=1)

    subscriptions.replay_subscription("test", moment, Operator("olga", "they lost them"))

    row = subscriptions.find_subscription("test")
    assert (row.since, row.row_id) == (moment, 0)


@pytest.mark.parametrize(
    ("sink", "target", "words"),
    [
        ("mail", {}, "webhook"),
        ("stream", {"stream": "s", "maxlne": 5}, "Did you mean 'maxlen'"),
        ("queue", {"queue": "q"}, "needs broker, queue"),
        ("queue", [], "must be an object"),
    ],
)
def test_a_target_from_outside_is_checked(sink, target, words):
    with pytest.raises(InvalidTask, match=words):
        target_of(sink, target)


def test_a_target_comes_back_from_what_was_stored():
    row = subscribe("test", events=["*"], to=ToStream("s", maxlen=5))

    assert target_of(row.sink, row.target) == ToStream("s", maxlen=5)

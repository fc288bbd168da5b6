"""Webhooks: signed, in order for each unit, several units at a time, and what each answer of a receiver means."""

import json
import os
import random
import subprocess
import sys
import threading
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import pytest
from standardwebhooks import WebhookVerificationError

from django_punctual import ToWebhook, emit_many, subscribe
from tasks_app import outgoing
from tasks_app.core.errors import InvalidTask
from tasks_app.core.events import Event
from tasks_app.core.keyring import CannotUnseal, new_key
from tasks_app.engine.beat.relay import courier as couriers
from tasks_app.engine.beat.relay import webhook
from tasks_app.engine.beat.relay.courier import Lost
from tasks_app.engine.beat.relay.sink import Attempt
from tasks_app.engine.beat.relay.webhook import WebhookSink
from tasks_app.lifecycle import subscriptions
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import AuditEntry, Delivery, Subscription
from tests.support.marks import commits
from tests.support.outbox import courier_of, cut, write
from tests.support.receiver import HERE, Call, Receiver, Reply, receiver
from tests.support.tls import CERTIFICATE

pytestmark = commits
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "webhook_receiver.py"
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _calls_here(settings, monkeypatch) -> Iterator[None]:
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE, "WEBHOOK_TIMEOUT_SECONDS": 30}
    monkeypatch.setattr(couriers, "FIRST_WAIT_SECONDS", 0.0)
    yield
    outgoing.client._client("").close()


@pytest.fixture
def there() -> Iterator[Receiver]:
    with receiver() as one:
        yield one


@pytest.fixture
def subscription(there) -> Subscription:
    return subscribe("test", events=["*"], to=ToWebhook(there.url))


def me() -> Operator:
    return Operator("olga", "a test")


def event(key: str | None = "a", row: int = 1, place: int = 1, **fields: object) -> Event:
    return Event(row, place, "order.paid", NOON, "default", "T_QUIET", key, **fields)


def deliver(subscription: Subscription, *events: Event) -> list[Attempt]:
    sink = WebhookSink(subscription)
    try:
        return list(sink.deliver(events))
    finally:
        sink.close()


def test_an_event_is_posted_whole_under_its_own_id_with_a_signature_that_the_standards_library_verifies(
    there, subscription
):
    paid = event("a", 7, 3, task=12, data={"sum": "12.50", "text": "ü\n"})

    [attempt] = deliver(subscription, paid)

    [call] = there.calls
    assert (attempt.ok, attempt.status, attempt.events) == (True, "200", [paid])
    assert (call.path, call.id, call.headers["content-type"]) == ("/hook", "7-3", "application/json")
    assert call.verified(subscription.new_secret) == paid.as_json()


@pytest.mark.parametrize("wrong", ["body", "webhook-id", "webhook-timestamp", "secret"])
def test_the_signature_covers_body_id_and_time(there, subscription, wrong):
    deliver(subscription, event())
    [call] = there.calls
    secret = subscription.new_secret
    if wrong == "body":
        call = call._replace(body=call.body.replace(b"order.paid", b"order.lost"))
    elif wrong == "secret":
        secret = "whsec_" + new_key()
    else:
        now = int(call.headers["webhook-timestamp"])
        call = call._replace(headers=call.headers | {wrong: "9-9" if wrong == "webhook-id" else str(now + 1)})

    with pytest.raises(WebhookVerificationError):
        call.verified(secret)


def test_while_a_secret_is_changed_the_receiver_may_check_with_either(there, subscription):
    old = subscription.new_secret
    new = subscriptions.add_secret(subscription.id, me())
    subscription.refresh_from_db()
    deliver(subscription, event())

    assert there.calls[0].verified(old) == there.calls[0].verified(new)
    assert subscriptions.withdraw_old_secrets(subscription.id, me()) == 1
    subscription.refresh_from_db()
    deliver(subscription, event())
    assert there.calls[1].verified(new)
    with pytest.raises(WebhookVerificationError):
        there.calls[1].verified(old)


def test_a_change_of_secrets_takes_the_subscription_from_whoever_delivers_it(there, subscription):
    courier = courier_of(subscription)
    write("a")
    cut()

    subscriptions.add_secret(subscription.id, me())

    with pytest.raises(Lost):
        courier.run_once()


def test_a_secret_is_told_once_and_is_nowhere_in_the_database_as_it_is(subscription):
    secret = subscription.new_secret
    again = subscribe("test", events=["*"], to=ToWebhook(subscription.target["url"]))
    second = subscriptions.add_secret(subscription.id, me())

    stored = json.dumps([list(Subscription.objects.values_list("secrets", "target")), *_audited()], default=str)
    assert secret.startswith("whsec_") and again.new_secret is None
    assert secret not in stored and second not in stored
    assert len(Subscription.objects.get().secrets) == 2


def _audited() -> list[tuple]:
    entries = list(AuditEntry.objects.values_list())
    assert entries
    return entries


def test_a_secret_may_be_the_receivers_own_but_not_a_weak_one_and_there_are_four_at_most(there, subscription):
    own = "whsec_" + new_key()
    assert subscriptions.add_secret(subscription.id, me(), own) == own
    for weak in ("whsec_c2hvcnQ=", "hello", "whsec_!", "", 7):
        with pytest.raises(InvalidTask, match="24 to 64 random bytes in base64") as refused:
            subscriptions.add_secret(subscription.id, me(), weak)
        assert "c2hvcnQ" not in str(refused.value)
    for _ in range(2):
        subscriptions.add_secret(subscription.id, me())
    with pytest.raises(InvalidTask, match=r"4 is the most\. Withdraw the old ones"):
        subscriptions.add_secret(subscription.id, me())


def test_without_its_key_nothing_is_sent_and_the_error_says_which_key_is_missing(settings, there, subscription):
    settings.SECRET_KEY = "another"

    with pytest.raises(CannotUnseal, match="which this process does not have"):
        deliver(Subscription.objects.get(), event())
    assert there.calls == []


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://169.254.169.254/latest/meta-data/", "is a link-local address"),
        ("http://10.0.0.1/", "is a private address"),
        ("http://[::ffff:10.0.0.1]/", "is a private address"),
        ("http://0x7f.1/", "is not an IPv4 address"),
        ("https://me:secret@hooks.example.com/", "a user name or a password"),
        ("ftp://hooks.example.com/", "must begin with https://"),
        (7, "There is no address"),
    ],
)
def test_a_subscription_to_an_address_that_is_not_called_is_refused_and_not_made(url, words):
    with pytest.raises(InvalidTask, match=words):
        subscribe("test", events=["*"], to=ToWebhook(url))
    assert not Subscription.objects.exists()


def test_an_address_that_is_no_longer_allowed_is_not_called(settings, there, subscription):
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": ["public"]}

    [attempt] = deliver(subscription, event())

    assert (attempt.ok, attempt.status, there.calls) == (False, "refused", [])
    assert "is a loopback address. An operator who wants it called adds" in attempt.answer


@pytest.mark.parametrize(
    ("status", "ok"), [(200, True), (201, True), (204, True), (299, True), (302, False), (400, False), (404, False)]
)
def test_any_2xx_means_that_it_has_the_event_and_nothing_else_does(there, subscription, status, ok):
    there.reply = lambda _: Reply(status)

    [attempt] = deliver(subscription, event())

    assert (attempt.ok, attempt.status, attempt.gone) == (ok, str(status), False)


@pytest.mark.parametrize(
    ("status", "asked", "pause"),
    [
        (429, "30", 30.0),
        (503, "7", 7.0),
        (503, "999999", webhook.LONGEST_PAUSE),
        (429, "soon", None),
        (500, "30", None),
    ],
)
def test_a_receiver_that_is_busy_may_ask_for_a_pause_of_an_hour_at_most(there, subscription, status, asked, pause):
    there.reply = lambda _: Reply(status, headers={"Retry-After": asked})

    [attempt] = deliver(subscription, event())

    assert (attempt.ok, attempt.retry_after) == (False, pause)


def test_a_receiver_that_is_gone_is_told_so_at_once(there, subscription):
    there.reply = lambda _: Reply(410, b"moved away")
    write("a")
    cut()

    with pytest.raises(Lost):
        courier_of(subscription).run_once()

    subscription.refresh_from_db()
    assert (subscription.state, subscription.reason) == (
        Subscription.SUSPENDED,
        "The receiver says that it is gone: 410: moved away",
    )


def test_what_an_answer_says_is_kept_and_can_do_no_harm(there, subscription):
    there.reply = lambda _: Reply(500, b"\0\x1b[2J<b>no\xff" + b"x" * 1_000)
    write("a")
    cut()

    courier_of(subscription).run_once()

    [noted] = Delivery.objects.all()
    assert (noted.ok, noted.status, len(noted.answer)) == (False, "500", 500)
    assert noted.answer.startswith("\\x00\\x1b[2J<b>no�xxx")


def test_the_events_of_a_unit_arrive_in_order_and_one_after_the_other(there, subscription):
    inside, together = defaultdict(int), []

    def reply(call: Call) -> Reply:
        inside[call.key] += 1
        together.append(inside[call.key])
        inside[call.key] -= 1
        return Reply()

    there.reply = reply
    events = [event(f"k{number % 20}", row) for row, number in enumerate(range(200), start=1)]
    attempts = deliver(subscription, *events)

    arrived = defaultdict(list)
    for call in there.calls:
        arrived[call.key].append(call.event["revision"])
    assert len(attempts) == 200 and max(together) == 1
    assert all(rows == sorted(rows) and len(rows) == 10 for rows in arrived.values())


def test_units_go_side_by_side(there, subscription):
    """Each call is answered only when another is there too."""
    both = threading.Barrier(2, timeout=30)

    def reply(_: Call) -> Reply:
        both.wait()
        return Reply()

    there.reply = reply
    # Of two lanes: as many of one as of the other, so that nobody waits alone in the end.
    first = next(key for key in map(str, range(99)) if _lane(key) == 0)
    second = next(key for key in map(str, range(99)) if _lane(key) == 1)

    attempts = deliver(subscription, *(event(key, row) for row in (1, 2) for key in (first, second)))

    assert [attempt.ok for attempt in attempts] == [True] * 4


def _lane(key: str) -> int:
    return crc32("\0".join(event(key).unit).encode()) % 8


@pytest.mark.parametrize(("usual_ms", "connections"), [(None, 8), (0.2, 1), (1.0, 4), (200.0, 8)])
def test_a_receiver_that_answers_at_once_needs_few_threads(subscription, usual_ms, connections):
    """Each thread that has something to do is one that the dispatcher has to wait for."""
    sink = WebhookSink(subscription)
    sink._usual_ms = usual_ms

    assert sink._connections() == connections


def test_how_long_a_receiver_usually_takes_is_learned_from_its_answers(there, subscription):
    sink = WebhookSink(subscription)
    attempts = sink.deliver([event(f"k{row}", row) for row in range(1, 6)])

    assert sink._usual_ms == sorted(attempt.ms for attempt in attempts)[2]


def test_after_a_failed_event_the_rest_of_its_unit_waits_and_other_units_go_on(there, subscription):
    there.reply = lambda call: Reply(500 if call.key == "a" else 200)

    attempts = deliver(subscription, event("a", 1), event("b", 2), event("a", 3), event("c", 4), event("b", 5))

    assert sorted(call.id for call in there.accepted()) == ["2-1", "4-1", "5-1"]
    assert [attempt.events[0].id for attempt in attempts if not attempt.ok] == ["1-1"]


@pytest.mark.parametrize("status", [429, 503, 410])
def test_a_receiver_that_wants_nothing_now_is_not_asked_for_each_event(there, subscription, status):
    there.reply = lambda _: Reply(status)

    attempts = deliver(subscription, *(event(f"k{row}", row) for row in range(1, 101)))

    assert len(attempts) == len(there.calls) <= 8


def test_a_receiver_that_fails_more_often_than_not_is_left_alone(there, subscription):
    there.reply = lambda _: Reply(500)

    attempts = deliver(subscription, *(event(f"k{row}", row) for row in range(1, 101)))

    assert webhook.FAILURES < len(attempts) <= webhook.FAILURES + 8


def test_a_slow_receiver_is_given_what_fits_into_a_round_and_the_rest_later(there, subscription, monkeypatch):
    monkeypatch.setattr(webhook, "BEGIN_SECONDS", -1.0)
    assert deliver(subscription, event()) == []
    monkeypatch.undo()
    write("a")
    cut()
    courier = courier_of(subscription)
    monkeypatch.setattr(webhook, "BEGIN_SECONDS", -1.0)
    assert courier.run_once() == 0.0
    monkeypatch.undo()
    courier.run_once()

    subscription.refresh_from_db()
    assert (len(there.calls), subscription.delivered, subscription.attempts) == (1, 1, 0)


def test_a_fault_of_our_own_is_told_and_not_taken_for_silence(there, subscription):
    with pytest.raises(TypeError, match="not JSON serializable"):
        deliver(subscription, event(data=object()))


def test_a_receiver_that_is_down_then_slow_then_fails_at_random_then_restarts_gets_everything_in_order(settings):
    """At least once, in order for each unit, each with a valid signature."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_CA_FILE": str(CERTIFICATE)}
    dice = random.Random(18)
    with receiver(tls=True) as there:
        subscription = subscribe("test", events=["*"], to=ToWebhook(there.url))
        courier = courier_of(subscription)
        there.stop()
        write_many(1)
        courier.run_once()
        subscription.refresh_from_db()
        assert subscription.last_error.startswith(f"unreachable: {there.url.removesuffix('/hook')} can't be reached")
        assert (there.calls, subscription.delivered) == ([], 0)

        there.start()
        settings.PUNCTUAL = settings.PUNCTUAL | {"WEBHOOK_TIMEOUT_SECONDS": 0.5}
        too_slow, stuck = threading.Event(), iter([True])
        there.reply = lambda _: Reply() if not next(stuck, False) else (too_slow.wait(30), Reply(500))[1]
        courier.run_once()
        too_slow.set()
        settings.PUNCTUAL = settings.PUNCTUAL | {"WEBHOOK_TIMEOUT_SECONDS": 30}

        there.reply = lambda _: Reply(500 if dice.random() < 0.3 else 200)
        write_many(2)
        until_delivered(courier, subscription, 80)

        there.stop()
        there.start()
        write_many(3)
        until_delivered(courier, subscription, 120)
        courier.close()
        outgoing.client._client(str(CERTIFICATE)).close()

    seen = defaultdict(list)
    for call in there.accepted():
        assert call.verified(subscription.new_secret)
        seen[call.key].append(call.event["data"]["round"])
    assert {key: sorted({*rounds}) for key, rounds in seen.items()} == {f"k{n}": [1, 2, 3] for n in range(40)}
    assert all(rounds == sorted(rounds) for rounds in seen.values())


def write_many(number: int) -> None:
    """An event for each of 40 units."""
    keys = [f"k{n}" for n in range(40)]
    emit_many("order.paid", [{"round": number} for _ in keys], task_type="T_QUIET", keys=keys)
    cut()


def until_delivered(courier, subscription: Subscription, number: int) -> None:
    for _ in range(200):
        courier.run_once()
        subscription.refresh_from_db()
        if subscription.delivered >= number:
            return
    raise AssertionError(f"only {subscription.delivered} were delivered: {subscription.last_error}")


@contextmanager
def example(*secrets: str) -> Iterator[str]:
    """The receiver that the docs point to."""
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLE), "--port", "0"],
        env=os.environ | {"WEBHOOK_SECRETS": " ".join(secrets)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def seen(url: str) -> dict:
    with urllib.request.urlopen(f"{url}seen", timeout=30) as answer:
        return json.load(answer)


def test_the_example_takes_each_event_once_and_none_with_a_wrong_signature():
    secret, other = ("whsec_" + new_key() for _ in range(2))
    with example(other, secret) as url:
        made = subscribe("test", events=["*"], to=ToWebhook(url))
        [refused] = deliver(made, event("a", 1))
        subscriptions.add_secret(made.id, me(), secret)
        made.refresh_from_db()
        attempts = deliver(made, event("a", 2), event("a", 2), event("b", 3))
        told = seen(url)

    assert (refused.status, refused.answer) == ("401", '{"error": "the signature is not right"}')
    assert [one.status for one in attempts] == ["204"] * 3
    units = {"default/T_QUIET/a": "order.paid", "default/T_QUIET/b": "order.paid"}
    assert told == {"taken": 2, "repeated": 1, "refused": 1, "units": units}

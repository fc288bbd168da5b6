"""A courier delivers at least once and in order, notes how far it got, and gives up only after long."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from django_punctual import ToFunction, subscribe
from tasks_app.core.errors import InvalidTask
from tasks_app.engine.beat.relay import courier as couriers
from tasks_app.engine.beat.relay import deliveries
from tasks_app.engine.beat.relay.courier import Lost
from tasks_app.engine.beat.relay.sink import Attempt, lanes
from tasks_app.engine.operations.subscriptions import next_event, skip_event
from tasks_app.lifecycle import subscriptions
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import AuditEntry, Delivery, OutboxEvent, Subscription
from tests.support.marks import commits
from tests.support.outbox import courier_of, cut, keys_of, read_all, subscribed, write

pytestmark = commits
ME = Operator("olga", "a test")


@pytest.fixture
def received():
    with subscribed() as received:
        yield received


@pytest.fixture
def subscription(received) -> Subscription:
    return subscribe("test", events=["*"], to=ToFunction("test"))


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    """After a failure the next try is at once, unless a test looks at how long it would have waited."""
    monkeypatch.setattr(couriers, "FIRST_WAIT_SECONDS", 0.0)


def test_it_gets_what_comes_after_it_has_subscribed(received):
    write("before")
    subscription = subscribe("test", events=["*"], to=ToFunction("test"))
    write("after")
    cut()

    assert courier_of(subscription).run_once() is None

    subscription.refresh_from_db()
    assert (received.keys, subscription.delivered) == (["after"], 1)
    assert subscription.delivered_at is not None


def test_a_second_courier_goes_on_where_the_first_was(received, subscription):
    write("a")
    cut()
    courier_of(subscription).run_once()
    subscriptions.pause(subscription.id, ME)
    subscriptions.resume(subscription.id, Operator("olga", "again"))
    write("b")
    cut()

    courier_of(subscription).run_once()

    assert [key for key in received.keys if key] == ["a", "b"]


def test_what_a_function_did_not_take_comes_again_with_the_same_ids(received, subscription):
    write("a", "b")
    cut()
    courier = courier_of(subscription)
    received.failure = ConnectionError("away")

    courier.run_once()
    subscription.refresh_from_db()
    failing = (subscription.attempts, subscription.last_error, subscription.failing_since is not None)
    received.failure = None
    courier.run_once()

    subscription.refresh_from_db()
    assert failing == (1, "ConnectionError: away", True)
    assert received.keys == ["a", "b"]
    assert (subscription.attempts, subscription.last_error, subscription.failing_since) == (0, "", None)


def test_after_a_failure_it_looks_for_what_came_meanwhile(received, subscription):
    write("a")
    cut()
    courier = courier_of(subscription)
    received.failure = ConnectionError("away")
    courier.run_once()
    write("b")
    cut()  # whoever waits is told now, and not again
    received.failure = None

    assert courier.run_once() == 0.0
    assert courier.run_once() is None
    assert received.keys == ["a", "b"]


class Picky:
    """A sink that takes everything but what it is told to refuse."""

    def __init__(self, refuses: set[str]) -> None:
        self.refuses = refuses
        self.taken: list[str] = []

    def deliver(self, events):
        for event in events:
            ok = event.key not in self.refuses
            if ok:
                self.taken.append(event.key)
            yield Attempt([event], ok, "200" if ok else "500", 1.0)

    def close(self) -> None:
        pass


def test_only_what_failed_is_delivered_again_and_the_cursor_waits_for_it(subscription):
    row = write("a", "b", "c")
    cut()
    courier = courier_of(subscription)
    courier._sink = picky = Picky({"b"})

    courier.run_once()
    subscription.refresh_from_db()
    waiting = (subscription.row_id, subscription.place, subscription.delivered)
    picky.refuses.clear()
    courier.run_once()

    subscription.refresh_from_db()
    assert waiting == (row, 1, 2)
    assert picky.taken == ["a", "c", "b"]
    assert (subscription.delivered, keys_of(read_all(couriers.Cursor(subscription.window_no)))) == (3, [])


def test_who_takes_over_after_a_crash_delivers_again_what_was_not_noted(received, subscription):
    row = write("a", "b", "c")
    cut()
    courier = courier_of(subscription)
    courier._sink = Picky({"b"})
    courier.run_once()
    Subscription.objects.update(holder=None)  # as if its lease had run out

    courier_of(subscription).run_once()

    assert received.keys == ["b", "c"]
    assert {event.row for event in received.events} == {row}


def test_a_courier_that_lost_its_lease_moves_nothing(received, subscription):
    write("a")
    cut()
    slow = courier_of(subscription)
    Subscription.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    courier_of(subscription, uuid4()).run_once()
    subscription.refresh_from_db()
    before = (subscription.window_no, subscription.delivered)

    with pytest.raises(Lost):
        slow.run_once()

    subscription.refresh_from_db()
    assert (subscription.window_no, subscription.delivered) == before


@pytest.mark.parametrize(
    "deed",
    [
        lambda row: subscriptions.pause(row.id, ME),
        lambda row: subscriptions.unsubscribe(row.id, ME),
        lambda row: subscriptions.replay(row.id, timezone.now() - timedelta(hours=1), ME),
        lambda row: subscribe("test", events=["task.dead"], to=ToFunction("test")),
    ],
    ids=["paused", "deleted", "replayed", "changed"],
)
def test_a_person_takes_it_from_its_courier(received, subscription, deed):
    write("a")
    cut()
    courier = courier_of(subscription)

    deed(subscription)

    with pytest.raises(Lost):
        courier.run_once()


def test_it_waits_longer_after_each_failure_up_to_a_bound(received, subscription, monkeypatch):
    monkeypatch.setattr(couriers, "FIRST_WAIT_SECONDS", 0.25)
    waits = [couriers._back_off(attempts) for attempts in range(1, 40)]

    assert all(0.25 * 2**n <= wait <= 0.375 * 2**n for n, wait in enumerate(waits[:11]))
    assert max(waits) <= 1.5 * couriers.LONGEST_WAIT_SECONDS
    write("a")
    cut()
    received.failure = ConnectionError("away")
    courier = courier_of(subscription)
    assert 0.25 <= courier.run_once() <= 0.375
    assert 0 < courier.run_once() <= 0.375  # too early: nothing is tried
    assert received.calls == 1


def test_a_receiver_that_asks_for_a_pause_gets_it(subscription):
    class Busy(Picky):
        def deliver(self, events):
            yield Attempt(events, False, "429", 1.0, "slow down", retry_after=120.0)

    write("a")
    cut()
    courier = courier_of(subscription)
    courier._sink = Busy(set())

    assert courier.run_once() == 120.0
    subscription.refresh_from_db()
    assert subscription.last_error == "429: slow down"


def test_after_long_enough_it_is_suspended_and_that_is_told(received, subscription):
    write("a")
    cut()
    received.failure = ConnectionError("away")
    courier = courier_of(subscription)
    courier.run_once()
    Subscription.objects.update(failing_since=timezone.now() - timedelta(days=2))

    with pytest.raises(Lost):
        courier.run_once()

    subscription.refresh_from_db()
    assert (subscription.state, subscription.holder) == ("SUSPENDED", None)
    assert subscription.reason == "Nothing could be delivered for 48.0 hours: ConnectionError: away"
    event = OutboxEvent.objects.get(event="subscription.suspended")
    assert (event.tenant, event.payloads[0]["name"]) == ("internal", "test")


def test_it_goes_on_from_where_it_stopped_or_from_a_time(received, subscription):
    write("a")
    cut()
    courier_of(subscription).run_once()
    Subscription.objects.update(state="SUSPENDED", reason="gone", holder=None)
    moment = timezone.now()
    write("b")
    cut()

    assert subscriptions.resume(subscription.id, ME)
    courier_of(subscription).run_once()
    told = [key for key in received.keys if key]
    subscriptions.pause(subscription.id, Operator("olga", "once more"))
    subscriptions.resume(subscription.id, Operator("olga", "from then"), since=moment)
    courier_of(subscription).run_once()

    assert told == ["a", "b"]
    assert [key for key in received.keys if key] == ["a", "b", "b"]
    assert list(AuditEntry.objects.order_by("id").values_list("verb", flat=True)) == [
        "subscribe",
        "resume",
        "pause",
        "resume",
    ]


def test_a_receiver_that_is_gone_is_suspended_at_once(subscription):
    class Gone(Picky):
        def deliver(self, events):
            yield Attempt(events, False, "410", 1.0, gone=True)

    write("a")
    cut()
    courier = courier_of(subscription)
    courier._sink = Gone(set())

    with pytest.raises(Lost):
        courier.run_once()

    subscription.refresh_from_db()
    assert (subscription.state, subscription.reason) == ("SUSPENDED", "The receiver says that it is gone: 410")


def test_the_last_deliveries_are_kept_and_no_more(subscription, monkeypatch):
    monkeypatch.setattr(deliveries, "KEEP_DELIVERIES", 3)
    write("a", "b", "c")
    cut()
    courier = courier_of(subscription)
    courier._sink = Picky({"b"})

    for _ in range(5):
        courier.run_once()

    last = Delivery.objects.filter(subscription_id=subscription.id).order_by("id")
    assert [(one.ok, one.status, one.count) for one in last] == [(False, "500", 1)] * 3
    assert last[0].event_ids[0].endswith("-2")


def test_events_of_a_unit_stay_in_one_lane_in_order():
    for _ in range(3):
        write(*(f"unit-{number}" for number in range(10)))
    cut()
    events = read_all()

    spread = lanes(events, 4)

    assert sorted(event.id for lane in spread for event in lane) == sorted(event.id for event in events)
    for unit in {event.unit for event in events}:
        (lane,) = [lane for lane in spread if any(event.unit == unit for event in lane)]
        rows = [event.row for event in lane if event.unit == unit]
        assert rows == sorted(rows) and len(rows) == 3


def stuck(subscription: Subscription, received) -> couriers.Courier:
    """A courier that can't deliver what was written."""
    cut()
    courier = courier_of(subscription)
    received.failure = ValueError("I can't take this one")
    courier.run_once()
    received.failure = None
    subscription.refresh_from_db()
    return courier


def test_an_event_that_is_never_taken_is_skipped_by_its_name_and_the_rest_goes_on(received, subscription):
    row = write("bad", "good", "better")
    stuck(subscription, received)

    assert next_event(subscription).event.id == f"{row}-1"
    assert skip_event(subscription.id, f"{row}-1", ME).key == "bad"

    courier_of(subscription).run_once()
    assert received.keys == ["good", "better"]
    [entry] = AuditEntry.objects.filter(verb="skip")
    assert (entry.outcome, entry.reason, entry.detail["event"], entry.detail["key"]) == (
        *("skipped", "a test", f"{row}-1", "bad"),
    )
    subscription.refresh_from_db()
    assert (subscription.attempts, subscription.failing_since, next_event(subscription)) == (0, None, None)


def test_the_last_event_of_a_row_and_of_a_window_can_be_skipped(received, subscription):
    row = write("bad")
    stuck(subscription, received)

    skip_event(subscription.id, f"{row}-1", ME)
    write("good")
    cut()

    courier_of(subscription).run_once()
    assert received.keys == ["good"]


def test_only_the_next_event_can_be_skipped(received, subscription):
    row = write("a", "b")
    stuck(subscription, received)

    for other in (f"{row}-2", f"{row + 1}-1", "", "rubbish"):
        with pytest.raises(InvalidTask, match=f"has to get next; that is {row}-1, order.paid"):
            skip_event(subscription.id, other, ME)
    assert not AuditEntry.objects.filter(verb="skip").exists()


def test_nothing_is_skipped_where_nothing_waits(subscription):
    with pytest.raises(InvalidTask, match="Nothing waits"):
        skip_event(subscription.id, "1-1", ME)


def test_who_delivers_while_an_event_is_skipped_notes_nothing(received, subscription):
    """The courier that holds it has the event in its hands: what it says of it is void."""
    row = write("bad", "good")
    courier = stuck(subscription, received)

    skip_event(subscription.id, f"{row}-1", ME)

    with pytest.raises(Lost):
        courier.run_once()
    subscription.refresh_from_db()
    assert (subscription.row_id, subscription.place) == (row, 1)


def test_what_was_delivered_meanwhile_is_not_skipped(received, subscription):
    """Somebody has looked at it, and then the courier got through."""
    row = write("a", "b")
    courier = stuck(subscription, received)
    waiting = next_event(subscription)
    courier.run_once()

    assert subscriptions.skip(subscription.id, waiting.seen, waiting.behind, {}, ME) is False
    with pytest.raises(InvalidTask):
        skip_event(subscription.id, f"{row}-1", ME)

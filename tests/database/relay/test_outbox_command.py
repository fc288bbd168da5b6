"""`manage.py outbox`, the status and the verdict say who is behind and who fails; a replay says how much it is."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from django_punctual import ToFunction, subscribe
from tasks_app.engine.beat.partitions import OUTBOX, _before, families
from tasks_app.engine.beat.relay.windows import drop_windows, merge_windows
from tasks_app.engine.watch.relay_status import read_relay
from tasks_app.engine.watch.status import read_status
from tasks_app.models import AuditEntry, OutboxWindow, Subscription
from tests.support.live import a_beat_is_alive
from tests.support.marks import commits
from tests.support.outbox import courier_of, cut, subscribed, write, writers

pytestmark = commits


@pytest.fixture
def received():
    with subscribed() as received:
        yield received


@pytest.fixture
def subscription(received) -> Subscription:
    return subscribe("test", events=["order.*"], to=ToFunction("test"))


def outbox(*words: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("outbox", *words, stdout=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    return out.getvalue(), 0


def rules() -> set[str]:
    return {one.rule for one in read_status().found} & {
        "subscription_suspended",
        "subscription_failing",
        "subscription_behind",
        "events_missed",
    }


def test_without_subscriptions_it_says_so():
    assert outbox() == ("Nobody has subscribed to events.\n", 0)


def test_it_shows_the_lag_of_each(subscription):
    write("a", "b")
    cut()
    waiting = json.loads(outbox("status", "--json")[0])["subscriptions"][0]
    courier_of(subscription).run_once()
    done = json.loads(outbox("--json")[0])["subscriptions"][0]

    assert (waiting["waiting_events"], waiting["waiting_seconds"] > 0) == (2, True)
    assert (done["waiting_events"], done["waiting_seconds"], done["delivered"]) == (0, None, 2)
    assert "test" in outbox()[0]


def test_of_a_tenants_own_subscription_only_its_own_events_wait(received):
    """How much others do, and since when, is none of its business; also when its windows have been put together."""
    subscribe("own", events=["*"], to=ToFunction("test"), tenant="acme")
    subscribe("quiet", events=["*"], to=ToFunction("test"), tenant="quiet")
    for number in range(3):
        write("a", "b", tenant="others")
        write(f"own {number}", tenant="acme")
        cut()

    def behind() -> dict[str, tuple[int, bool]]:
        found = [one for tenant in ("acme", "quiet") for one in read_relay(tenant).subscriptions]
        return {one.name: (one.waiting_events, one.waiting_seconds is not None) for one in found}

    apart = behind()
    OutboxWindow.objects.update(recorded_at=timezone.now() - timedelta(hours=1))
    write("new", tenant="others")
    cut()
    Subscription.objects.update(window_no=1)  # beside no cursor windows are put together
    merge_windows()

    assert apart == {"own": (3, True), "quiet": (0, False)}
    assert OutboxWindow.objects.count() == 3 and behind() == apart


def test_windows_of_a_version_before_put_together_with_new_ones_keep_their_age(received):
    subscribe("own", events=["*"], to=ToFunction("test"), tenant="acme")
    for number in range(3):
        write(f"own {number}", tenant="acme")
        cut()
    first = OutboxWindow.objects.order_by("no")[1]  # nobody knows whose its events are
    OutboxWindow.objects.filter(no=first.no).update(tenants=None)
    OutboxWindow.objects.update(recorded_at=timezone.now() - timedelta(hours=1))
    write("new", tenant="others")
    cut()
    Subscription.objects.update(window_no=1)
    merge_windows()

    merged = OutboxWindow.objects.order_by("no")[1]
    assert merged.tenants is None and merged.min_id == first.min_id
    Subscription.objects.update(window_no=merged.no)
    [own] = read_relay("acme").subscriptions
    assert own.waiting_events == 0 and own.waiting_seconds is not None


def test_a_subscriber_that_wants_nothing_of_it_is_not_behind_for_long(subscription):
    write("a", event="task.dead")
    cut()
    courier = courier_of(subscription)
    courier.run_once()
    courier.note_passed()

    assert json.loads(outbox("--json")[0])["subscriptions"][0]["waiting_events"] == 0


def test_it_names_whose_transaction_is_open(subscription):
    with writers(1) as (one,):
        one.begin().write("a")

        assert json.loads(outbox("--json")[0])["horizon"]["name"].startswith("pid ")


@pytest.mark.parametrize(
    ("change", "rule", "severity"),
    [
        ({"state": "SUSPENDED", "reason": "away"}, "subscription_suspended", "trouble"),
        ({"failing_since": timezone.now() - timedelta(hours=1)}, "subscription_failing", "notice"),
        ({"window_no": 0}, None, None),
    ],
)
def test_the_verdict_tells(subscription, change, rule, severity):
    Subscription.objects.update(**change)

    assert rules() == ({rule} if rule else set())
    assert [one.severity for one in read_status().found if one.rule == rule] == ([severity] if rule else [])


def test_the_verdict_tells_who_is_behind_and_no_tenant_hears_a_name(subscription):
    a_beat_is_alive()
    write("a")
    cut()
    Subscription.objects.update(since=timezone.now() - timedelta(days=1))
    OutboxWindow.objects.update(min_at=timezone.now() - timedelta(hours=1))

    (found,) = [one for one in read_status().found if one.rule == "subscription_behind"]

    assert "test" in found.detail
    assert "test" not in found.outward


def test_pause_and_resume(subscription):
    assert outbox("pause", "test", "--reason", "quiet") == ("Subscription test is paused. Events wait for it.\n", 0)
    assert outbox("pause", "test")[1] == 1
    assert outbox("resume", "test")[0] == "Subscription test goes on from where it stopped.\n"
    assert set(AuditEntry.objects.values_list("verb", flat=True)) == {"subscribe", "pause", "resume"}


def test_an_active_subscription_can_not_be_resumed_from_a_time(subscription):
    with pytest.raises(CommandError, match=r"test is active, so it can't be resumed from a time\. Replay it"):
        outbox("resume", "test", "--since", "2h")


def test_it_names_the_patterns_that_match_events_which_are_not_kept(received, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": ["job.*", "task.dead"]}
    subscribe("test", events=["order.*", "lane.*"], to=ToFunction("test"))

    lines = outbox()[0].splitlines()
    [told] = json.loads(outbox("--json")[0])["subscriptions"]

    assert "  lane.* matches lane.paused, lane.resumed: not kept here (EVENTS)" in lines
    assert told["not_kept"]["lane.*"] == ["lane.paused", "lane.resumed"]


def test_what_a_receiver_never_takes_is_named_and_can_be_skipped(received, subscription):
    row = write("bad", "good")
    cut()
    received.failure = ValueError("no")
    courier_of(subscription).run_once()
    received.failure = None

    told = outbox()[0]
    assert f"next is event {row}-1, order.paid of T_QUIET bad; what comes behind it waits" in told
    assert f"`outbox skip test --event {row}-1`" in told
    with pytest.raises(CommandError, match=f"that is {row}-1"):
        outbox("skip", "test", "--event", f"{row}-2")
    assert outbox("skip", "test", "--event", f"{row}-1", "--reason", "its order is gone") == (
        f"Subscription test goes on behind {row}-1, order.paid; its receiver never gets that.\n",
        0,
    )
    courier_of(subscription).run_once()
    assert received.keys == ["good"]
    assert AuditEntry.objects.get(verb="skip").reason == "its order is gone"


def test_a_replay_says_how_much_it_would_be_and_then_does_it(received, subscription):
    write("a", "b")
    cut()
    courier_of(subscription).run_once()

    would = json.loads(outbox("replay", "--since", "15m", "--to", "test", "--dry-run", "--json")[0])
    subscription.refresh_from_db()
    untouched = subscription.row_id, subscription.window_no
    outbox("replay", "--since", "15m", "--to", "test", "--reason", "they lost them")
    courier_of(subscription).run_once()

    assert (would["events"], would["replayed"]) == (2, False)
    assert untouched == (0, 2)
    assert received.keys == ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "--since", "yesterday", "--to", "test"),
        ("replay", "--since", "15m", "--to", "nobody"),
        ("resume", "test", "--since", "2026-11-16T08:00"),
    ],
)
def test_bad_words_change_nothing(subscription, words):
    before = Subscription.objects.values().get()

    with pytest.raises(CommandError):
        call_command("outbox", *words, stdout=StringIO())

    assert Subscription.objects.values().get() == before


# ---- how long events stay ----


def goes_before(days_from_now: float) -> timedelta:
    """How old events are that go then, as seen from now: what is written now is 0 old."""
    (of_events,) = [family for family in families() if family.table == OUTBOX]
    return _before(of_events, timezone.now() + timedelta(days=days_from_now)) - timezone.now()


def test_events_that_everybody_has_go_by_their_age(subscription):
    write("a")
    cut()
    courier_of(subscription).run_once()

    assert goes_before(10) > timedelta(days=2.9)


def test_events_that_a_subscriber_has_not_got_stay_but_not_for_ever(subscription):
    write("a")
    cut()

    assert goes_before(6) < timedelta(days=-0.9)
    assert timedelta(minutes=-10) < goes_before(10) <= timedelta(0)
    assert goes_before(40) > timedelta(days=9.9)


def test_who_lost_events_that_way_is_told(subscription):
    for key in "ab":
        write(key)
        cut()
    drop_windows(timezone.now() + timedelta(days=1))

    assert rules() == {"events_missed"}
    assert "events were dropped before it got them" in outbox()[0]

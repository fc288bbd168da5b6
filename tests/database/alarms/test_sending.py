"""Alerts on their way: signed, by mail, to a chat; at least once, with a stable id; no channel holds up another."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from standardwebhooks import Webhook

from tasks_app.core.errors import RetryLimited
from tasks_app.core.keyring import new_key
from tasks_app.engine.channels import sending
from tasks_app.engine.channels.sending import GIVE_UP_SECONDS, LEASE_SECONDS, send_waiting
from tasks_app.engine.operations import secrets
from tasks_app.engine.operations.alarms import test_channel as send_test
from tasks_app.engine.watch.status import read_status
from tasks_app.lifecycle.alarms.channels import edit_channel, target_of
from tasks_app.models import AlarmAlert, AlarmChannel, AlarmIncident, AuditEntry
from tests.support.alarms import channel, died, happened, look, rule, time_passes
from tests.support.http_receiver import http_receiver
from tests.support.operators import operator
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
RUNBOOK = "https://wiki.example.com/mail"


def outcomes(**wanted) -> list[str]:
    return list(AlarmAlert.objects.filter(**wanted).order_by("created_at").values_list("outcome", flat=True))


# ---- what arrives ----


def test_a_webhook_gets_a_signed_alert_with_links_and_a_stable_id(hook):
    to = channel(url=hook.url)
    rule(channels=[to], runbook=RUNBOOK)
    died(3)
    look()
    send_waiting()

    (got,) = hook.got
    alert, incident = AlarmAlert.objects.get(), AlarmIncident.objects.get()
    Webhook(target_of(to).secret).verify(got.body, got.headers)
    assert got.json["id"] == got.headers["webhook-id"] == str(alert.id)
    assert (got.json["type"], got.json["incident"]["count"]) == ("alarm.opened", 3)
    assert got.json["link"] == f"https://ops.example.com/admin/punctual/alarmincident/{incident.id}/"
    assert got.json["runbook"] == RUNBOOK and RUNBOOK in got.json["text"]
    assert (alert.outcome, alert.attempts) == ("SENT", 1)


def test_a_mail_goes_to_all_its_people_once(mailbox):
    people = ("olga@example.com", "sam@example.com")
    rule(channels=[channel(kind="email", url="", to=people)], runbook=RUNBOOK)
    died(5_000)
    look()
    for _ in range(2):
        send_waiting()

    (mail,), (to,) = mailbox.mails, mailbox.recipients
    assert to == list(people)
    assert mail["Subject"] == "[Punctual] 5,000 tasks of T_QUIET gave up: SMTP_DOWN"
    assert mail["Message-ID"] == f"<{AlarmAlert.objects.get().id}@punctual.invalid>"
    assert mail["Auto-Submitted"] == "auto-generated" and mail["From"] == "punctual@example.com"
    assert RUNBOOK in mail.get_content()


def test_a_chat_gets_the_json_that_it_takes_and_no_markup_of_others(hook):
    rule(channels=[channel(kind="chat", url=hook.url)])
    died(1, code="<!everyone>&")
    look()
    send_waiting()

    (got,) = hook.got
    assert list(got.json) == ["text"]
    assert got.json["text"].startswith("*1 task of T_QUIET gave up: &lt;!everyone&gt;&amp;*\n")


def test_what_an_error_says_of_our_files_is_not_told():
    rule()
    message = 'it failed in /srv/app/secret/code.py\nTraceback (most recent call last):\n  File "/srv/app/x.py", line 3'
    happened("task.dead", [{"code": "E", "message": message}], task_type="T_QUIET")
    look()
    text = AlarmAlert.objects.get().body["text"]
    assert "The error: it failed in …" in text and "/srv" not in text and "Traceback" not in text


# ---- when it fails ----


def test_what_could_not_be_sent_is_sent_again_with_the_same_id(hook):
    rule(channels=[channel(url=hook.url)])
    died()
    look()
    hook.status, hook.answer = 500, b"not now\x1b[2J"
    send_waiting()
    failing = AlarmChannel.objects.get()
    assert failing.failing_since and failing.error == "It answered 500: not now\\x1b[2J"
    send_waiting()
    assert len(hook.got) == 1, "it waits first"

    hook.status = 204
    time_passes(10)
    send_waiting()

    first, second = hook.got
    assert first.headers["webhook-id"] == second.headers["webhook-id"] and first.body == second.body
    mended = AlarmChannel.objects.get()
    assert (mended.failing_since, mended.error, mended.attempts, outcomes()) == (None, "", 0, ["SENT"])


def test_the_other_side_may_ask_for_a_longer_pause(hook):
    rule(channels=[channel(url=hook.url)])
    died()
    look()
    hook.status, hook.headers = 429, {"Retry-After": "600"}
    send_waiting()
    time_passes(500)
    send_waiting()
    assert len(hook.got) == 1
    time_passes(101)
    send_waiting()
    assert len(hook.got) == 2


def test_a_mail_server_that_refuses_is_tried_again(mailbox):
    rule(channels=[channel(kind="email", url="", to=("olga@example.com",))])
    died()
    look()
    mailbox.refuses = "451 try later"
    send_waiting()
    assert "451" in AlarmChannel.objects.get().error

    mailbox.refuses = ""
    time_passes(10)
    send_waiting()
    assert len(mailbox.mails) == 1 and outcomes() == ["SENT"]


def test_after_a_day_an_alert_is_given_up(hook):
    rule(channels=[channel(url=hook.url)])
    died()
    look()
    hook.status = 500
    send_waiting()
    time_passes(GIVE_UP_SECONDS + 1)
    send_waiting()
    assert outcomes() == ["GIVEN_UP"] and AlarmAlert.objects.get().attempts == 2


def test_an_address_that_must_not_be_called_is_not_called(hook, settings):
    rule(channels=[channel(url=hook.url)])
    died()
    look()
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": ["public"]}
    send_waiting()
    assert hook.got == [] and "loopback" in AlarmChannel.objects.get().error


def test_a_channel_that_does_not_answer_holds_up_no_other(hook, monkeypatch):
    """Neither what waits with it nor what comes later."""
    monkeypatch.setattr(sending, "WAIT_SECONDS", 0.1)
    with http_receiver() as slow:
        rule(channels=[channel("slow", url=slow.url), channel("quick", url=hook.url)])
        slow.hold.clear()
        for number in (1, 2):
            died(1, code=f"E{number}")
            look()
            send_waiting()
            wait_until(lambda seen=number: len(hook.got) == seen, describe="the quick one gets its alert")
        assert len(slow.got) == 1
        slow.hold.set()
        wait_until(lambda: "" not in outcomes(), describe="the slow one to have got the rest")
    assert len(slow.got) == 2 and outcomes() == ["SENT"] * 4


# ---- who sends ----


def test_while_one_beat_sends_another_leaves_the_channel_alone_and_takes_it_when_the_first_is_dead(hook):
    rule(channels=[channel(url=hook.url)])
    died()
    look()
    (held,) = sending.run("take_channels", {"lease": LEASE_SECONDS, "most": 10})  # and is killed
    send_waiting()
    assert hook.got == []

    time_passes(LEASE_SECONDS + 1)
    send_waiting()
    assert len(hook.got) == 1

    stale = sending.Held(*held)
    assert sending._next(stale) is None, "whoever comes back from the dead sends nothing"


def test_an_alert_that_was_sent_but_not_noted_is_sent_again_with_the_same_id(hook, monkeypatch):
    """Killed between the call and the note."""
    rule(channels=[channel(url=hook.url)])
    died()
    look()
    note = sending.run

    def killed(name, params):
        if name in ("mark_sent", "release_channel"):
            raise ConnectionError(name)
        return note(name, params)

    monkeypatch.setattr(sending, "run", killed)
    send_waiting()
    monkeypatch.undo()
    time_passes(LEASE_SECONDS + 1)
    send_waiting()

    assert len({one.headers["webhook-id"] for one in hook.got}) == 1 and len(hook.got) == 2
    assert outcomes() == ["SENT"]


def test_a_channel_that_is_turned_off_is_not_called(hook):
    to = channel(url=hook.url)
    rule(channels=[to])
    died()
    look()
    edit_channel(to.id, {"enabled": False}, operator(), tenant="default")
    send_waiting()
    assert hook.got == []


# ---- how often ----


def test_more_alerts_than_a_channel_may_get_come_together_as_one(hook):
    rule(channels=[channel(url=hook.url, most_per_hour=2)])
    for number in range(5):
        died(1, code=f"E{number}")
    look()
    send_waiting()

    (got,) = hook.got
    assert (got.json["type"], got.json["title"], len(got.json["alerts"])) == ("alarm.digest", "5 alerts at once", 5)
    assert sorted(outcomes()) == ["FOLDED"] * 5 + ["SENT"]


def test_a_channel_that_has_had_its_alerts_waits_and_then_gets_the_rest_as_one(hook):
    rule(channels=[channel(url=hook.url, most_per_hour=1)])
    died(1, code="FIRST")
    look()
    send_waiting()
    for number in range(30):
        died(1, code=f"E{number}")
    look()
    send_waiting()
    assert [one.json["type"] for one in hook.got] == ["alarm.opened"]

    time_passes(3_601)
    send_waiting()
    digest = hook.got[1].json
    assert (digest["title"], len(digest["alerts"]), digest["more"]) == ("30 alerts at once", 20, 10)
    assert "- and 10 more" in digest["text"]


# ---- the test button ----


def test_a_test_alert_says_what_came_of_it_and_is_recorded(hook):
    to = channel(url=hook.url)
    good = send_test(to, operator())
    hook.status = 404
    bad = send_test(to, operator())

    assert good.ok and good.words.startswith("answered 200, after")
    assert not bad.ok and bad.words == "It answered 404."
    assert [one.json["type"] for one in hook.got] == ["alarm.test"] * 2
    assert outcomes(kind="test") == ["SENT", "GIVEN_UP"]
    assert list(AuditEntry.objects.filter(verb="test").order_by("id").values_list("outcome", flat=True)) == [
        "sent",
        "not sent",
    ]


def test_testing_counts_as_one_of_the_alerts_of_the_hour(hook):
    to = channel(url=hook.url, most_per_hour=1)
    send_test(to, operator())
    with pytest.raises(RetryLimited, match="has had its 1 alerts"):
        send_test(to, operator())
    assert len(hook.got) == 1


def test_what_is_stored_of_a_channel_does_not_show_where_it_leads():
    to = channel(kind="chat", url="https://hooks.example.com/services/T0/B0/very-secret")
    with connection.cursor() as cursor:
        cursor.execute("SELECT c::text FROM punctual_alarm_channel c")
        assert "very-secret" not in cursor.fetchone()[0]
    assert to.shown == "https://hooks.example.com"
    assert "very-secret" not in str(list(AuditEntry.objects.values()))
    # Copied to another row, it can't be opened there.
    other = channel("other", kind="chat", url="https://hooks.example.com/x")
    AlarmChannel.objects.filter(id=other.id).update(target=to.target)
    tested = send_test(AlarmChannel.objects.get(id=other.id), operator())
    assert not tested.ok and "can't be opened" in tested.words


def test_old_alerts_and_incidents_are_pruned():
    from tasks_app.engine.beat.retention import prune

    rule()
    died()
    look()
    long_ago = timezone.now() - timedelta(days=91)
    AlarmAlert.objects.update(done_at=long_ago, outcome="SENT")
    AlarmIncident.objects.update(closed_at=long_ago)
    died()
    look()
    pruned = prune()
    assert (pruned.alerts, pruned.incidents) == (1, 1)
    assert AlarmAlert.objects.count() == AlarmIncident.objects.count() == 1


def test_a_channel_that_nobody_can_reach_is_told_in_the_status(hook):
    rule(channels=[channel(url=hook.url)])
    died()
    look()
    hook.status = 500
    send_waiting()
    assert "alarms_not_told" not in read_status().broken
    AlarmChannel.objects.update(failing_since=timezone.now() - timedelta(hours=1))
    (told,) = [one for one in read_status().found if one.rule == "alarms_not_told"]
    assert "channel 'ops': nothing could be sent for 60 min" in told.sentence
    assert told.detail == "The error: It answered 500."


def test_new_keys_seal_channels_too(settings):
    old, new = new_key(), new_key()
    settings.PUNCTUAL = settings.PUNCTUAL | {"SECRET_KEYS": (old,)}
    to = channel()
    before = target_of(to)
    settings.PUNCTUAL = settings.PUNCTUAL | {"SECRET_KEYS": (new, old)}
    assert secrets.rotate() == (1, [])
    settings.PUNCTUAL = settings.PUNCTUAL | {"SECRET_KEYS": (new,)}
    assert target_of(AlarmChannel.objects.get()) == before
    assert secrets.keys_in_use().total() == 1

    settings.PUNCTUAL = settings.PUNCTUAL | {"SECRET_KEYS": (new_key(),)}
    assert secrets.rotate().unopened[0].startswith(f"punctual_alarm_channel {to.id}: ")

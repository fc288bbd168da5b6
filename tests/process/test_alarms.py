"""Alarms from real beats: one alert for many deaths, and the same alert again if its beat is killed while it sends."""

from django.utils import timezone

from django_punctual import schedule_many
from tasks_app.models import AlarmAlert, AlarmChannel, AlarmIncident
from tests.support.alarms import LOCAL, channel, rule
from tests.support.http_receiver import http_receiver
from tests.support.wait import wait_until

DEATHS = 300


def test_an_alert_whose_beat_is_killed_while_it_sends_is_sent_again_by_the_next(stack, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": LOCAL}
    allow = {"OUTGOING_ALLOW": ",".join(LOCAL)}
    with http_receiver() as hook:
        rule(channels=[channel(url=hook.url)])
        hook.hold.clear()
        first = stack.beat(**allow)
        stack.worker()
        schedule_many("T_QUIET", [{"key": number, "payload": {"do": "die"}} for number in range(DEATHS)])
        wait_until(lambda: hook.got, timeout=40, describe=stack.logs)
        first.kill()
        hook.hold.set()
        assert AlarmAlert.objects.get().outcome == "", "nobody knows that it arrived"

        AlarmChannel.objects.update(held_until=timezone.now())  # a minute later
        stack.beat(**allow)
        wait_until(lambda: AlarmAlert.objects.filter(outcome="SENT").exists(), timeout=40, describe=stack.logs)

    one, again = hook.got
    assert one.headers["webhook-id"] == again.headers["webhook-id"] and one.body == again.body
    assert AlarmIncident.objects.get().count == one.json["incident"]["count"] == DEATHS

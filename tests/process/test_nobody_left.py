"""A web process that nobody asks anything sees that no beat is left, and tells."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tasks_app.models import AlarmIncident, MaintenanceEntry
from tests.support.alarms import LOCAL, channel, hurry, rule
from tests.support.http_receiver import http_receiver
from tests.support.stack import serving
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_web_process_without_traffic_raises_the_alarm(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": LOCAL}
    long_ago = timezone.now() - timedelta(minutes=5)
    MaintenanceEntry.objects.create(name="reap", next_at=long_ago, ran_at=long_ago)
    with http_receiver() as hook:
        rule("trouble", tenant=None, conditions=("trouble",), channels=[channel(tenant=None, url=hook.url)])
        with serving(TEST_LOOKOUT_SECONDS="0.2", OUTGOING_ALLOW=",".join(LOCAL)):
            wait_until(AlarmIncident.objects.exists, timeout=30, describe="the web process notes that no beat is left")
            hurry()
            wait_until(lambda: hook.got, timeout=30, describe="it tells")
        (told,) = hook.got
    assert told.json["type"] == "alarm.opened" and told.json["title"].startswith("P1: no beat has been alive for 5 min")

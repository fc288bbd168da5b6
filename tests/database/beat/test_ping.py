"""The dead man's switch: called while a beat looks, and in the way that is set while something is wrong."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tasks_app.conf import conf
from tasks_app.core import alarms
from tasks_app.core.alarms import Condition, Occurrence
from tasks_app.engine.beat.ping import ping, stop_pinging
from tasks_app.engine.intervals import INTERVALS
from tasks_app.models import MaintenanceEntry
from tasks_app.outgoing import Refused
from tests.support.alarms import LOCAL
from tests.support.http_receiver import http_receiver

pytestmark = pytest.mark.django_db

SECRET = "/4d5c2f1e"


@pytest.fixture
def hook(settings):
    with http_receiver() as receiver:
        url = receiver.url.replace("/hook", SECRET)
        settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": LOCAL, "PING_URL": f"{url}?rid=1"}
        yield receiver


@pytest.fixture
def verdict(monkeypatch):
    """What looking at the scheduler finds, look by look; the last one stays."""
    found = [[]]

    def look():
        causes = found.pop(0) if len(found) > 1 else found[0]
        return [Occurrence(Condition.TROUBLE, None, one, sample={"sentence": f"{one}!"}) for one in causes]

    monkeypatch.setattr(alarms, "LOOKS", [look])
    monkeypatch.setattr("tasks_app.engine.beat.ping.LOOKS", [look])
    return found


def pinged(seconds_ago: float = 60) -> None:
    at = timezone.now() - timedelta(seconds=seconds_ago)
    MaintenanceEntry.objects.create(name="ping", next_at=at, done_at=at)


def paths(hook) -> list[str]:
    return [one.path for one in hook.got]


def test_well_is_one_call_a_minute(hook, verdict):
    pinged()
    assert ping(0) == "told well"
    assert paths(hook) == [f"{SECRET}?rid=1"] and hook.got[0].body == b"All is well."
    assert INTERVALS["ping"]() == 60.0


def test_whoever_begins_to_look_says_so(hook, verdict):
    ping(0)
    pinged(181)
    ping(0)
    assert paths(hook) == [f"{SECRET}/start?rid=1", f"{SECRET}?rid=1"] * 2


@pytest.mark.parametrize(
    ("setting", "sent"), [("fail", [f"{SECRET}/fail?rid=1"]), ("silent", []), ("ignore", [f"{SECRET}?rid=1"])]
)
def test_trouble_is_told_as_it_is_set(hook, verdict, settings, setting, sent):
    settings.PUNCTUAL = settings.PUNCTUAL | {"PING_TROUBLE": setting}
    pinged()
    verdict[:] = [["overdue", "no_worker"]]
    ping(0)
    assert paths(hook) == sent
    if setting == "fail":
        assert hook.got[0].body == b"overdue!\nno_worker!"


def test_a_trouble_that_passes_at_once_is_none(hook, verdict):
    pinged()
    verdict[:] = [["shards_without_dispatcher"], []]
    ping(0)
    assert paths(hook) == [f"{SECRET}?rid=1"]


def test_a_beat_that_is_stopped_while_it_looks_again_says_nothing(hook, verdict, monkeypatch):
    pinged()
    verdict[:] = [["overdue"]]
    look = alarms.LOOKS[0]
    monkeypatch.setattr("tasks_app.engine.beat.ping.LOOKS", [lambda: (stop_pinging(), look())[1]])
    assert ping(3_600) == "stopped" and paths(hook) == []


def test_a_receiver_that_is_away_fails_no_chore(hook, verdict, settings, caplog):
    pinged()
    hook.status = 500
    assert ping(0) == "not told well"
    settings.PUNCTUAL = settings.PUNCTUAL | {"PING_URL": "http://127.0.0.1:1/secret"}
    assert ping(0) == "not told well"
    assert "ping.not_sent" in caplog.text and "secret" not in caplog.text


def test_an_address_that_nobody_allowed_is_refused_where_operators_see_it(hook, verdict, settings):
    pinged()
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": ("public",)}
    with pytest.raises(Refused):
        ping(0)


def test_without_an_address_nothing_is_called(settings):
    assert INTERVALS["ping"]() == 0.0
    assert "hc-ping" not in repr(conf())

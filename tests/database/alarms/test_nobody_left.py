"""With all beats dead, whoever is left says so: once, over all processes; and a beat that is back says that it is."""

import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from tasks_app.engine import lookout
from tasks_app.engine.beat.alarms.alarm import alarm
from tasks_app.engine.lookout import LOOKOUT, look
from tasks_app.engine.watch.verdict.fleet import no_dispatcher
from tasks_app.engine.web import riding
from tasks_app.lifecycle.alarms.incidents import tell_due
from tasks_app.models import AlarmAlert, AlarmChannel, AlarmIncident, MaintenanceEntry, Node
from tests.support.alarms import channel, hurry, kinds, rule, time_passes, titles
from tests.support.marks import commits
from tests.support.overlap import overlap

pytestmark = pytest.mark.django_db


def beat_seen(seconds_ago: float) -> None:
    """A beat that reported itself, and took a chore, so long ago."""
    at = timezone.now() - timedelta(seconds=seconds_ago)
    Node.objects.update_or_create(node_id=uuid4(), kind=Node.BEAT, name="b", defaults={"seen_at": at})
    MaintenanceEntry.objects.update_or_create(name="reap", defaults={"next_at": at, "ran_at": at})


def of_trouble(**options):
    return rule("trouble", tenant=None, conditions=("trouble",), **options)


@commits
def test_it_is_told_when_no_beat_has_been_seen_for_a_while(hook):
    of_trouble(channels=[channel(tenant=None, url=hook.url)])
    beat_seen(100)
    assert look() >= 100
    hurry()
    look()

    (told,) = hook.got
    assert told.json["title"] == "P1: no beat has been alive for 100 s, so nothing is dispatched."
    assert told.json["incident"]["cause"] == no_dispatcher.__name__ == lookout.CAUSE
    assert "celery -A django_punctual beat`" in told.json["text"]


@pytest.mark.parametrize("seconds_ago", [None, 5, 29])
def test_nobody_is_told_while_one_is_there_or_if_there_never_was_one(seconds_ago):
    of_trouble()
    if seconds_ago is not None:
        beat_seen(seconds_ago)
    assert look() is None and not AlarmIncident.objects.exists()


def test_one_that_said_goodbye_is_missed_just_the_same():
    of_trouble()
    beat_seen(100)
    Node.objects.all().delete()
    assert look() and AlarmIncident.objects.get().closed_at is None


def test_one_that_is_about_to_take_its_first_chore_is_there():
    beat_seen(100)
    Node.objects.create(node_id=uuid4(), kind=Node.BEAT, name="new")
    assert look() is None


def test_only_rules_about_trouble_are_meant():
    rule("dying", tenant=None, conditions=("dead",))
    beat_seen(100)
    assert look() and not AlarmIncident.objects.exists()


@commits
@pytest.mark.parametrize("commit", [True, False])
def test_however_many_look_there_is_one_incident_and_one_alert(commit):
    """What is sent by whom is decided by the lease of the channel, tested where that is."""
    of_trouble(channels=[channel(tenant=None, enabled=False)])
    beat_seen(100)
    overlap(look, look, commit=commit)
    assert AlarmIncident.objects.count() == 1

    AlarmIncident.objects.update(tell_at=timezone.now() - timedelta(seconds=1))
    AlarmChannel.objects.update(enabled=True)
    overlap(tell_due, tell_due, commit=commit)
    tell_due()
    assert kinds() == ["opened"]


def test_a_beat_that_is_back_ends_it_and_says_so():
    of_trouble()
    beat_seen(100)
    look()
    hurry()
    look()
    assert kinds() == ["opened"]

    beat_seen(0)
    Node.objects.filter(kind=Node.BEAT).update(renewed_at=timezone.now())
    time_passes(61)
    alarm()
    assert kinds() == ["opened", "well"]
    assert titles()[-1].startswith("Well again: P1: no beat")
    assert AlarmIncident.objects.get(cause=lookout.CAUSE).closed_at is not None


def test_a_restart_that_is_over_before_anybody_was_told_is_told_to_nobody():
    """It was seen twice, a beat came back, and then its patience ran out."""
    of_trouble()
    beat_seen(31)
    look()
    time_passes(31)
    AlarmIncident.objects.update(tell_at=timezone.now() - timedelta(seconds=1))
    assert tell_due() == 0 and not AlarmAlert.objects.exists()


# ---- who looks ----


@commits
def test_a_look_rides_on_a_request_in_a_thread_of_its_own_and_not_on_the_next_one(monkeypatch, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOKOUT_SECONDS": 3_600.0}
    asked = lookout.Lookout()
    monkeypatch.setattr(riding, "LOOKOUT", asked)
    of_trouble()
    beat_seen(100)
    riding.after_request(sender=None)  # of a test's client
    assert asked._thread is None

    riding.after_request(sender=riding.WSGIHandler)
    asked._thread.join(30)
    assert asked._thread is not threading.current_thread() and AlarmIncident.objects.count() == 1
    assert asked.ride() is None


def test_where_alarms_are_turned_off_nobody_looks(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ALARM_SECONDS": 0, "LOOKOUT_SECONDS": 15.0}
    assert lookout.Lookout().ride() is None


def test_all_web_processes_and_workers_have_it():
    assert riding.LOOKOUT is LOOKOUT
    from tasks_app.engine.worker import process

    assert process.LOOKOUT is LOOKOUT

"""From events to incidents and alerts: grouped by cause, told once in a while, and told when all is well again."""

from collections import Counter
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from django_punctual import ToWebhook, schedule_many, subscribe
from tasks_app.core.alarms import Condition, Occurrence
from tasks_app.core.overdue import Answer
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.beat.alarms import reading
from tasks_app.engine.beat.alarms.alarm import alarm
from tasks_app.engine.beat.alarms.reading import read_events
from tasks_app.engine.beat.chores import Chores
from tasks_app.engine.operations.quarantine import resume as resume_installation
from tasks_app.lifecycle.alarms.incidents import FORGET_SECONDS, MOST_CAUSES, calm_due, note, tell_due
from tasks_app.lifecycle.alarms.rules import delete_rule, edit_rule
from tasks_app.lifecycle.installation import quarantine
from tasks_app.lifecycle.subscriptions import resume, suspend
from tasks_app.models import AlarmAlert, AlarmIncident, AlarmReader, DlqEntry, MinuteFigures, ScheduleTask, Subscription
from tests.support.alarms import ADDRESS, channel, died, happened, kinds, look, rule, time_passes, titles
from tests.support.engine import run_due
from tests.support.jobs import instances, make
from tests.support.operators import operator
from tests.support.overlap import overlap

# Committed: what a transaction writes, the alarms read after it.
pytestmark = pytest.mark.django_db(transaction=True)


def succeeded(task_type: str = "T_QUIET", minutes_ago: float = 0) -> None:
    minute = (timezone.now() - timedelta(minutes=minutes_ago)).replace(second=0, microsecond=0) + timedelta(minutes=1)
    MinuteFigures.objects.create(minute=minute, task_type=task_type, batches=1, ok=1, failed=0, run_us=1, lateness=[1])


# ---- what opens an incident ----


def test_five_thousand_deaths_of_one_cause_are_one_alert():
    rule()
    for _ in range(5):
        died(1_000)
    look()

    (incident,) = AlarmIncident.objects.all()
    assert (incident.count, incident.cause, incident.task_type) == (5_000, "SMTP_DOWN", "T_QUIET")
    assert titles() == ["5,000 tasks of T_QUIET gave up: SMTP_DOWN"]
    assert "For example task 1 (key-1) of tenant default." in AlarmAlert.objects.get().body["text"]


def test_real_deaths_are_grouped_by_the_fingerprint_of_their_letters():
    rule()
    schedule_many("T_QUIET", [{"key": number, "payload": {"do": "die"}} for number in range(20)])
    schedule_many("T_QUIET", [{"key": f"c{number}", "payload": {"do": "crash"}, "max_retry": 0} for number in range(3)])
    run_due()
    look()

    found = dict(AlarmIncident.objects.values_list("cause", "count"))
    assert found == Counter(DlqEntry.objects.values_list("fingerprint", flat=True)) and sorted(found.values()) == [
        3,
        20,
    ]
    assert "20 tasks of T_QUIET gave up: ASKED" in titles()


def test_two_causes_are_two_incidents():
    rule()
    died(3)
    died(2, code="BAD_ADDRESS")
    look()

    assert sorted(titles()) == ["2 tasks of T_QUIET gave up: BAD_ADDRESS", "3 tasks of T_QUIET gave up: SMTP_DOWN"]


def test_the_first_alert_waits_a_few_seconds_for_others_of_the_same_cause():
    rule()
    died()
    read_events()
    assert tell_due() == 0

    died(9)
    time_passes(6)
    read_events()
    assert tell_due() == 1 and titles() == ["10 tasks of T_QUIET gave up: SMTP_DOWN"]


def test_it_is_told_again_no_sooner_than_the_rule_says_and_with_counts():
    rule(repeat_seconds=600)
    died(2)
    look()
    died(40)
    look()
    assert kinds() == ["opened"]
    AlarmAlert.objects.update(done_at=timezone.now(), outcome="SENT")

    time_passes(601)
    look()

    assert kinds() == ["opened", "again"]
    assert "40 more since the last alert, 42 in all" in AlarmAlert.objects.get(kind="again").body["text"]


def test_a_channel_that_has_not_got_the_last_alert_is_not_given_another():
    rule(repeat_seconds=60)
    for _ in range(3):
        died()
        time_passes(61)
        look()
    assert kinds() == ["opened"]


def test_nothing_is_told_of_what_happened_before_the_rule():
    died()
    rule()
    look()
    assert not AlarmIncident.objects.exists()


@pytest.mark.parametrize(
    ("how", "count"),
    [
        ({}, 3),
        ({"task_types": ("T_QUIET",)}, 3),
        ({"task_types": ("T_*",)}, 3),
        ({"task_types": ("OTHER", "*_QUIE*")}, 3),
        ({"task_types": ("T_PLAIN",)}, 0),
        ({"conditions": ("missed",)}, 0),
    ],
    ids=str,
)
def test_a_rule_is_about_its_types_and_conditions(how, count):
    rule(**how)
    died(3)
    look()
    assert sum(AlarmIncident.objects.values_list("count", flat=True)) == count


def test_a_rule_of_a_tenant_is_about_its_own_tasks_and_one_for_all_about_everybodys():
    rule()
    rule("everybody", tenant=None)
    died(2, tenant="acme")
    died(3)
    look()

    found = dict(AlarmIncident.objects.values_list("tenant", "count"))
    assert found == {"default": 3, None: 5}


def test_a_rule_about_a_job_counts_what_that_job_fired():
    job = make()
    rule(job=job.id)
    died(3, jobs=[job.id, job.id + 1, None])
    look()
    assert (AlarmIncident.objects.get().count, AlarmIncident.objects.get().job) == (1, job.id)


def test_only_what_is_later_than_the_rule_says_counts():
    rule(conditions=("late",), late_seconds=100)
    rule("stricter", conditions=("late",), late_seconds=60)
    happened("task.late", [{"due": "x", "late_seconds": late} for late in (50, 70, 101, 200)], task_type="T_QUIET")
    look()

    assert sorted(titles()) == [f"{number} tasks of T_QUIET started up to 3 min late" for number in (2, 3)]


def test_missed_firings_of_many_jobs_are_one_incident():
    rule(conditions=("missed",))
    for number in range(1, 8):
        happened("job.missed", [{"name": f"job {number}", "count": 2}], task_type="T_QUIET", jobs=[number])
    look()

    assert titles() == ["14 firings of jobs were missed"]
    assert "Among them: job 1, job 2, job 3, job 4, job 5." in AlarmAlert.objects.get().body["text"]


def test_many_causes_at_once_are_some_incidents_and_one_for_the_others():
    rule()
    for number in range(MOST_CAUSES + 20):
        died(1, code=f"E{number}")
    look()
    died(1, code="E0")
    died(1, code="E999")
    look()

    assert AlarmIncident.objects.count() == MOST_CAUSES + 1
    assert AlarmIncident.objects.get(cause="").count == 21
    assert AlarmIncident.objects.get(cause="E0").count == 2


def test_a_rule_that_is_turned_off_or_deleted_tells_nobody_and_leaves_nothing_open():
    off, gone = rule("off"), rule("gone")
    died()
    read_events()
    edit_rule(off.id, {"enabled": False}, operator(), tenant="default")
    delete_rule(gone.id, operator(), tenant="default")
    look()

    assert set(AlarmIncident.objects.values_list("outcome", flat=True)) == {"GONE"} and kinds() == []


# ---- reading: each event once ----


@pytest.mark.parametrize("bound", ["ROWS", "EVENTS"])
def test_each_event_counts_once_in_however_many_steps_it_is_read(monkeypatch, bound):
    monkeypatch.setattr(reading, bound, 2)
    rule()
    for _ in range(5):
        died()
    died(7)
    for _ in range(3):
        read_events()
    assert AlarmIncident.objects.get().count == 12


def test_without_rules_nothing_is_read():
    made = rule()
    assert AlarmReader.objects.exists()
    delete_rule(made.id, operator(), tenant="default")
    died()

    assert alarm() == "no rules" and not AlarmReader.objects.exists()


def test_on_a_restored_copy_the_alarms_go_on_with_what_happens_from_then_on():
    rule()
    died()
    AlarmReader.objects.update(cluster=7)  # the server that the copy was made of
    read_events()
    assert not AlarmIncident.objects.exists()

    died()
    read_events()
    assert AlarmIncident.objects.get().count == 1


# ---- well again ----


def test_it_is_well_again_when_it_has_stopped_and_something_of_the_type_has_succeeded():
    rule(quiet_seconds=600)
    died(3)
    look()
    succeeded()
    look()
    assert AlarmIncident.objects.get().closed_at is None

    time_passes(601)
    look()

    assert (AlarmIncident.objects.get().outcome, kinds()) == ("WELL", ["opened", "well"])
    assert titles(kind="well") == ["Well again: 3 tasks of T_QUIET gave up: SMTP_DOWN"]


def test_silence_alone_is_not_well_again():
    rule(quiet_seconds=60)
    died()
    look()
    succeeded("T_PLAIN")
    time_passes(3_600)
    look()
    assert AlarmIncident.objects.get().closed_at is None and kinds() == ["opened"]


def test_what_nobody_ever_hears_of_again_is_closed_without_a_word():
    rule()
    died()
    look()
    time_passes(FORGET_SECONDS + 1)
    look()
    assert (AlarmIncident.objects.get().outcome, kinds()) == ("GONE", ["opened"])


def test_the_next_death_after_that_opens_a_new_incident():
    rule(quiet_seconds=60)
    died()
    look()
    succeeded()
    time_passes(61)
    look()
    died()
    look()
    assert kinds() == ["opened", "well", "opened"] and AlarmIncident.objects.count() == 2


def test_a_job_is_well_again_when_a_later_instance_has_succeeded():
    job = make()
    rule(job=job.id, quiet_seconds=60)
    died(1, jobs=[job.id])
    look()
    time_passes(61)
    look()
    assert kinds() == ["opened"]

    first = instances(job)[0]
    past = timezone.now() - timedelta(seconds=1)
    ScheduleTask.objects.filter(id=first.id).update(due_at=past, fire_time=past)
    assert run_due()
    time_passes(61)
    look()
    assert kinds() == ["opened", "well"]


def test_missed_firings_are_well_again_when_there_are_no_more():
    rule(conditions=("missed",), quiet_seconds=60)
    happened("job.missed", [{"name": "nightly", "count": 1}], task_type="T_QUIET", jobs=[1])
    look()
    time_passes(61)
    look()
    assert kinds() == ["opened", "well"]


def test_a_suspended_subscription_is_told_and_so_is_that_it_goes_on():
    rule(conditions=("suspended",), quiet_seconds=60)
    happened("subscription.suspended", [{"name": "billing", "reason": "answered 500"}])
    look()
    time_passes(3_600)
    look()
    assert titles() == ["Subscription 'billing' is suspended"]

    happened("subscription.resumed", [{"name": "other", "by": "olga"}])
    look()
    assert kinds() == ["opened"]
    happened("subscription.resumed", [{"name": "billing", "by": "olga"}])
    look()
    assert kinds() == ["opened", "well"]


def test_the_relays_own_suspension_is_an_incident():
    rule(conditions=("suspended",))
    made = subscribe("billing", events=["*"], to=ToWebhook(ADDRESS), tenant="default")
    node = uuid4()
    Subscription.objects.filter(id=made.id).update(holder=node, fence=7)
    assert suspend(made.id, node, 7, "answered 500")
    look()
    assert titles() == ["Subscription 'billing' is suspended"]
    assert "The reason: answered 500" in AlarmAlert.objects.get().body["text"]

    resume(made.id, operator())
    look()
    assert kinds() == ["opened", "well"]


def test_what_passes_before_anybody_was_told_is_not_told_at_all():
    rule(tenant=None, conditions=("trouble",))
    note([Occurrence(Condition.TROUBLE, None, "no_worker", sample={"sentence": "No worker."})])
    tell_due()
    time_passes(61)
    # Not seen again: it is over before its time has come.
    AlarmIncident.objects.update(tell_at=timezone.now() + timedelta(seconds=5))
    calm_due()
    assert (AlarmIncident.objects.get().outcome, kinds()) == ("WELL", [])


def test_trouble_that_lasts_is_told_once_and_again_while_it_goes_on():
    rule(tenant=None, conditions=("trouble",), repeat_seconds=600)
    seen = [Occurrence(Condition.TROUBLE, None, "no_worker", sample={"sentence": "No task can run: no worker."})]
    note(seen)
    time_passes(61)
    note(seen)
    tell_due()
    AlarmAlert.objects.update(done_at=timezone.now(), outcome="SENT")
    note(seen)
    assert tell_due() == 0
    time_passes(601)
    note(seen)
    tell_due()

    assert kinds() == ["opened", "again"] and set(titles()) == {"No task can run: no worker."}
    assert AlarmIncident.objects.get().count == 1


# ---- races ----


def test_an_event_that_is_committed_late_is_not_missed():
    """It took its id and its transaction before others that the alarms have read meanwhile."""
    rule()

    def meanwhile() -> set[str]:
        died(1, code="EARLY_ONE")
        read_events()
        return set(AlarmIncident.objects.values_list("cause", flat=True))

    _, seen = overlap(lambda: died(1, code="LATE_ONE"), meanwhile)
    assert seen == {"EARLY_ONE"}, "nobody waits for it"
    read_events()
    read_events()

    assert dict(AlarmIncident.objects.values_list("cause", "count")) == {"EARLY_ONE": 1, "LATE_ONE": 1}


def test_while_one_beat_reads_another_leaves_it_alone():
    rule()
    died()
    overlap(read_events, read_events)
    assert AlarmIncident.objects.get().count == 1


def test_what_was_read_and_that_it_was_read_are_one_transaction():
    rule()
    died()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        read_events()
        assert AlarmIncident.objects.exists()
        1 / 0  # noqa: B018  (killed before its commit)
    read_events()
    assert AlarmIncident.objects.get().count == 1


def test_alerts_go_to_every_channel_of_the_rule_that_is_on():
    first, off = channel("first"), channel("off", enabled=False)
    rule(channels=[first, off, channel("second")])
    died()
    look()
    assert AlarmAlert.objects.count() == 2 and not AlarmAlert.objects.filter(channel=off.id).exists()


def test_whoever_has_a_rule_about_it_is_told_of_a_quarantine_when_it_goes_on():
    rule("woken", tenant=None, conditions=("quarantine",))
    rule("others", tenant=None, conditions=("trouble",))
    quarantine("it may be a copy")
    BARRIER.look()
    beat = Chores(uuid4(), "beat-1")
    assert "alarm" not in beat.run_once()  # nobody is called before
    beat.wait_aside()
    resume_installation(Answer.checked("run"), operator())
    BARRIER.look()

    look()
    look()

    [title] = titles(kind="opened")
    assert title.startswith("P1: the installation was put into quarantine at ")
    assert "by punctual, and nothing was dispatched until it went on" in title
    [alert] = AlarmAlert.objects.all()
    assert "The reason: it may be a copy" in str(alert.body)

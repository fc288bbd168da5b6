"""Each rule that acts goes on and off again, fed by tasks that ran, and is seen in what a dispatcher gives out."""

from collections import Counter
from datetime import timedelta
from uuid import UUID

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from django_punctual import schedule, schedule_many
from django_punctual.jobs import trigger_job
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.errors import Degraded, RetryLimited
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.core.scopes import HELD_BACK
from tasks_app.engine import nodes
from tasks_app.engine.beat.batch_size import BatchSizes
from tasks_app.engine.beat.safeguards import pulse
from tasks_app.engine.beat.safeguards.guard import SafeguardsFailed, guard
from tasks_app.engine.canary import CANARY, send_canaries
from tasks_app.engine.operations import lanes
from tasks_app.engine.operations.safeguards import force
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.away import Completed, Failed, complete, fail
from tasks_app.lifecycle.campaigns import steps
from tasks_app.lifecycle.hosts import Called, ask
from tasks_app.lifecycle.limited import declare_limits
from tasks_app.lifecycle.safeguards.applying import new_row
from tasks_app.lifecycle.start import start
from tasks_app.models import (
    AuditEntry,
    Curb,
    CurbPermit,
    LaneResume,
    Node,
    Pulse,
    PulseReader,
    Safeguard,
    SafeguardIncident,
    ScheduleTask,
    ScopeMinute,
    TaskBatch,
)
from tests.support.backfill import backfilled, hourly, hours
from tests.support.engine import claim_due, make_due, run_due
from tests.support.graphs import child
from tests.support.jobs import make
from tests.support.marks import commits
from tests.support.moves import FINAL, away, ids_of, settled, started
from tests.support.operators import operator
from tests.support.safeguards import PATIENT, Beat, look, many, overdue, ran, sizes, watched

pytestmark = commits


@pytest.fixture(autouse=True)
def _watched(settings, monkeypatch):
    settings.PUNCTUAL = settings.PUNCTUAL | PATIENT
    monkeypatch.setattr(pulse, "SETTLED_SECONDS", 0.0)  # here nobody is still committing
    watched()


@pytest.fixture
def beat():
    one = Beat()
    yield one
    one.close()


def on() -> dict[tuple[str, str], int]:
    return {(row.name, row.subject): row.stage for row in Safeguard.objects.filter(stage__gt=0)}


def setting(settings, **given) -> None:
    settings.PUNCTUAL = settings.PUNCTUAL | {"SAFEGUARDS": given}


def test_a_late_start_slows_low_down_then_pauses_it_and_lets_it_go_step_by_step(beat):
    late = many("T_QUIET", 1)
    overdue(late, 10)
    look()
    many("T_PLAIN", 100, lane="low")
    look(301)
    assert on() == {("delay", ""): 1}

    beat.dispatch()
    slowed = sizes(beat.dispatch(seconds=5), "lane")
    assert 0 < slowed["low"] <= 2 * 16  # one a second, and what it takes to ask all shards alike

    ScheduleTask.objects.filter(id__in=late).update(status="INIT", batch_no=None, due_at=Now())
    TaskBatch.objects.all().delete()
    overdue(late, 10)
    look(301)
    assert on() == {("delay", ""): 2}
    assert sizes(beat.dispatch(seconds=60), "lane") == {"default": 1}

    ScheduleTask.objects.filter(id__in=late).update(status="SUCCESS", due_at=None, batch_no=None)
    look()
    look(601)
    assert on() == {("delay", ""): 1}
    look(601)
    assert on() == {}
    assert LaneResume.objects.filter(lane="low").exists()  # what waited is not late from before
    assert sizes(beat.dispatch(seconds=60), "lane")["low"] >= 50
    [incident] = SafeguardIncident.objects.all()
    assert incident.closed_at is not None
    assert [entry["actions"] for entry in incident.actions] == [
        ["lane low is slowed to 1 task a second"],
        ["lane low is paused"],
        ["lane low is slowed to 1 task a second"],
    ]
    told = AuditEntry.objects.filter(actor="safeguard delay").order_by("id").values_list("verb", flat=True)
    assert list(told) == ["begin", "change", "change", "end"]


@pytest.mark.parametrize(
    "broken",
    [
        {"name": "delay", "stage": 1, "figures": {"low_rate": "much"}},  # its step fails
        {
            "name": "breaker",
            "subject": "tenant:default/T_QUIET",
            "stage": 2,
            "figures": {"in_a_row": "some"},
        },  # its rule fails
    ],
    ids=["step", "rule"],
)
def test_one_that_fails_stays_on_and_stops_no_other(broken):
    held = new_row(broken["name"], broken.get("subject", ""))
    held.stage, held.figures = broken["stage"], broken["figures"]
    held.save()
    force("dead_letters", operator(), subject="T_PLAIN")

    with pytest.raises(SafeguardsFailed, match=f"safeguard {held.name}: "):
        look()

    assert on() == {(held.name, held.subject): held.stage, ("dead_letters", "T_PLAIN"): 1}
    assert Curb.objects.get(name="dead_letters").target == "T_PLAIN"


def test_tasks_that_started_late_count_when_nothing_is_due_any_more():
    for seconds in (0, 301):
        overdue(many("T_QUIET", 30), 10)
        run_due()
        look(seconds)

    assert on() == {("delay", ""): 1}
    [row] = Safeguard.objects.all()
    assert (row.figures["oldest_ms"], row.figures["p95_ms"] > 9_000) == (0, True)


def test_a_lane_is_slowed_to_a_part_of_what_it_did_before_and_stays_at_that():
    minute = timezone.now().replace(second=0, microsecond=0)
    figures = {"ok": 30_000, "failed": 0, "run_us": 1, "lateness": []}
    Pulse.objects.create(minute=minute, lane="low", task_type="T_QUIET", **figures)
    overdue(many("T_QUIET", 1), 10)
    look()
    Safeguard.objects.update(over_since=timezone.now() - timedelta(seconds=301))
    look()
    assert Curb.objects.get().rate == 25.0  # a quarter of a hundred a second

    Pulse.objects.all().delete()
    look()
    assert Curb.objects.get().rate == 25.0


def test_one_bad_type_has_its_retries_slowed_and_its_backfills_stopped_and_no_other(beat):
    jobs = [hourly("bad", task_type="T_PLAIN"), hourly("good")]
    begun = backfilled(hours(3), jobs[0])
    ran("T_PLAIN", ok=240, failed=10)
    ran("T_QUIET", ok=240)
    look()
    look(60)
    assert on() == {("failures", "tenant:default/T_PLAIN"): 1}

    retries = list(ScheduleTask.objects.filter(status="FAIL").values_list("id", flat=True))
    make_due(*retries)
    many("T_PLAIN", 20)
    many("T_QUIET", 20)
    beat.dispatch()
    assert run_claimed() in ({"T_PLAIN": 20, "T_QUIET": 20}, {"T_PLAIN": 21, "T_QUIET": 20})
    again = ScheduleTask.objects.filter(id__in=retries)
    assert again.filter(status="FAIL", error_code=HELD_BACK, attempt=1, due_at__gt=Now()).count() >= 9

    with pytest.raises(RetryLimited, match="Too many tries of T_PLAIN"):
        backfilled(hours(3, ago=5), jobs[0])
    waits = backfilled(hours(3, ago=5), jobs[1])
    assert steps.step("test").campaign == waits.id
    assert steps.step("test") is None

    look(660)
    look(601)
    assert on() == {}
    assert steps.step("test").campaign == begun.id
    make_due(*again.exclude(status="SUCCESS").values_list("id", flat=True))
    beat.dispatch()
    assert run_claimed()["T_PLAIN"] == 10 + 3  # and what the backfill has released


def test_a_backfill_is_held_back_if_what_comes_along_with_it_fails():
    root = hourly("root")
    child("a", "root")
    begun = backfilled(hours(2), root)
    Curb.objects.create(name="failures", subject="T_PLAIN", kind="backfills", target="T_PLAIN")

    assert steps.step("test") is None
    with pytest.raises(RetryLimited, match="Too many tries of T_PLAIN"):
        backfilled(hours(2, ago=5), root)
    alone = backfilled(hours(2, ago=5), root, descendants=False)
    assert steps.step("test").campaign == alone.id

    Curb.objects.all().delete()
    assert steps.step("test").campaign == begun.id


@pytest.mark.parametrize("tenants", [("acme",) * 3, ("acme", "beta", "gamma")], ids=["one tenant", "several"])
def test_if_all_types_fail_all_retries_are_slowed_of_the_tenant_or_of_all(beat, tenants):
    types = ("T_PLAIN", "T_QUIET", "T_LOGS")
    for task_type, tenant in zip(types, tenants, strict=True):
        ran(task_type, ok=90, failed=10, tenant=tenant)
    look()
    look(60)

    tenant = "acme" if len(set(tenants)) == 1 else ""
    assert on() == {("failures", "tenant:acme/*" if tenant else ""): 1}
    held = set(Curb.objects.values_list("kind", "target", "of_tenant"))
    assert held == {("retries", one, tenant) for one in types} | {("backfills", "*", tenant)}
    retries = ScheduleTask.objects.filter(status="FAIL")
    make_due(*retries.values_list("id", flat=True))
    many("T_QUIET", 20)
    beat.dispatch()
    assert 20 <= sum(run_claimed().values()) <= 20 + 3  # what comes for the first time, and one retry of each

    look(660)
    look(601)
    assert (on(), Curb.objects.count(), CurbPermit.objects.count()) == ({}, 0, 0)
    make_due(*retries.values_list("id", flat=True))
    beat.dispatch()
    assert sum(run_claimed().values()) == 30


def test_retries_are_slowed_to_half_of_their_rate_since_the_failures_began():
    ran("T_PLAIN", ok=120, failed=90)
    look()
    ScopeMinute.objects.update(minute=timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=2))
    look(60)

    curb = Curb.objects.get(kind="retries")
    assert 90 / 260 / 2 < curb.rate <= 90 / 180 / 2  # by three to four minutes, and not by ten


def test_retries_are_slowed_less_when_there_are_more_failures_than_at_first():
    ran("T_PLAIN", ok=190, failed=12)
    look()
    look(60)
    trickle = Curb.objects.get(kind="retries").rate

    ran("T_PLAIN", ok=100, failed=400)
    look()
    more = Curb.objects.get(kind="retries").rate
    ran("T_PLAIN", ok=100, failed=1)
    look(60)

    assert more > 5 * trickle
    assert Curb.objects.get(kind="retries").rate == more  # fewer failures, since retries are held back, change nothing


def test_too_many_retries_come_in_buckets_the_short_ones_first(beat, settings):
    setting(settings, retries={"limit": 50}, failures={"mode": "off"}, breaker={"mode": "off"})
    ran("T_PLAIN", failed=40)
    ran("T_LOGS", failed=40)
    TaskBatch.objects.filter(task_type="T_LOGS").update(run_us=40 * 5_000_000)
    TaskBatch.objects.filter(task_type="T_PLAIN").update(run_us=40 * 10_000)
    look()
    look(31)
    assert on() == {("retries", "tenant:default/*"): 1}

    retries = ScheduleTask.objects.filter(status="FAIL")
    make_due(*retries.values_list("id", flat=True))
    _refill()
    beat.dispatch()
    again = run_claimed()
    assert again["T_PLAIN"] >= 20 > 2 >= again["T_LOGS"]  # 171 a second, and one in 17 seconds

    ScheduleTask.objects.update(status="SUCCESS", due_at=None, batch_no=None)
    look()
    look(301)
    assert (on(), Curb.objects.count()) == ({}, 0)


def test_too_many_dead_letters_of_many_types_leave_only_critical_work(beat, settings):
    setting(settings, dead_letters={"limit": 10}, failures={"mode": "off"}, breaker={"mode": "off"})
    job, urgent = make("plain"), make("urgent", lane="critical")
    ran("T_PLAIN", failed=8, do="die", tenant="acme")
    ran("T_QUIET", failed=8, do="die", tenant="beta")
    look()
    assert on() == {("dead_letters", ""): 1}

    for lane in LANES:
        many("T_PLAIN", 3, lane=lane)
    assert sizes(beat.dispatch(), "lane") == {"critical": 3}
    with pytest.raises(Degraded, match="only work in lane 'critical' fires"):
        trigger_job(job.id, "k", operator())
    assert trigger_job(urgent.id, "k", operator()).new

    look(61)
    look(301)
    assert on() == {}
    assert set(sizes(beat.dispatch(), "lane")) == set(LANES)
    assert trigger_job(job.id, "k", operator()).new


def test_if_one_type_dies_that_one_is_held_and_nothing_is_lost(beat, settings):
    setting(settings, dead_letters={"limit": 10}, failures={"mode": "off"}, breaker={"mode": "off"})
    ran("T_PLAIN", failed=12, do="die")
    ran("T_QUIET", failed=1, do="die")
    look()
    assert on() == {("dead_letters", "tenant:default/T_PLAIN"): 1}

    held = many("T_PLAIN", 5)
    many("T_QUIET", 5)
    many("T_PLAIN", 5, tenant="acme")
    beat.dispatch()
    assert run_claimed() == {"T_QUIET": 5, "T_PLAIN": 5}
    rows = ScheduleTask.objects.filter(id__in=held)
    assert set(rows.values_list("status", "attempt", "error_code")) == {("INIT", 0, HELD_BACK)}
    assert rows.filter(due_at__isnull=True).count() == 0

    look(61)
    look(301)
    make_due(*held)
    beat.dispatch()
    assert run_claimed() == {"T_PLAIN": 5}


def test_if_many_types_of_one_tenant_die_only_its_work_is_held_except_the_critical(beat, settings):
    setting(settings, dead_letters={"limit": 10}, failures={"mode": "off"}, breaker={"mode": "off"})
    job = make("plain")
    ran("T_PLAIN", failed=8, do="die", tenant="acme")
    ran("T_QUIET", failed=8, do="die", tenant="acme")
    look()
    assert on() == {("dead_letters", "tenant:acme/*"): 1}

    many("T_LOGS", 3, tenant="acme")
    many("T_QUIET", 2, lane="critical", tenant="acme")
    many("T_QUIET", 4)
    beat.dispatch()
    assert run_claimed() == {"T_QUIET": 6}
    assert trigger_job(job.id, "k", operator()).new


def test_if_the_calls_of_one_host_die_that_host_is_held(settings):
    setting(settings, dead_letters={"limit": 10}, failures={"mode": "off"}, breaker={"mode": "off"})
    payload = {"url": "https://api.example.com/x", "sign": ""}
    schedule_many(HTTP_CALLBACK, [{"key": n, "payload": payload} for n in range(11)])
    for batch in claim_due():
        settled(start(UUID(batch.batch_no), "worker"), FINAL)
    look()
    assert on() == {("dead_letters", "tenant:default/host:api.example.com"): 1}

    batch = started("a")
    held, free = Called("default", "api.example.com"), Called("default", "other.example.com")
    others = Called("acme", "api.example.com")
    leaves = ask(batch.batch_no, {held: 1, free: 1, others: 1}, 4)
    assert (leaves[held].unwell, leaves[held].tries, free in leaves, others in leaves) == (True, False, False, False)

    look(61)
    look(301)
    assert held not in ask(batch.batch_no, {held: 1}, 4)


def test_a_type_that_mostly_fails_for_a_tenant_is_tried_one_by_one_until_that_succeeds(beat):
    ran("T_PLAIN", ok=5, failed=16)
    look()
    assert on() == {("breaker", "tenant:default/T_PLAIN"): 2}

    waiting = many("T_PLAIN", 30)
    many("T_QUIET", 30)
    many("T_PLAIN", 10, tenant="acme")
    _refill()
    beat.dispatch()
    assert run_claimed() == {"T_PLAIN": 1 + 10, "T_QUIET": 30}
    rows = ScheduleTask.objects.filter(id__in=waiting)
    assert rows.filter(status="INIT", attempt=0, error_code=HELD_BACK, due_at__gt=Now()).count() == 29

    for _ in range(2):
        look()
        _refill()
        _ask_again(waiting)
        beat.dispatch()
        assert run_claimed() == {"T_PLAIN": 1}
    look()
    look(31)
    assert on() == {("breaker", "tenant:default/T_PLAIN"): 1}
    _refill()
    _ask_again(waiting)
    beat.dispatch()
    assert run_claimed() == {"T_PLAIN": 10}
    look(31)
    assert on() == {}
    _ask_again(waiting)
    beat.dispatch()
    assert run_claimed() == {"T_PLAIN": 17}


def test_what_is_reported_of_tasks_that_were_away_counts_as_any_try(beat):
    batch = away(*(f"k{n}" for n in range(21)))
    tasks = ids_of(batch)
    fail(batch.batch_no, [(one, Failed("NO_FILE", "not there", after=3600.0)) for one in tasks[:16]])
    look()
    complete(batch.batch_no, [(one, Completed()) for one in tasks[16:]])
    assert on() == {}
    fail_more = away(*(f"more{n}" for n in range(5)))
    fail(fail_more.batch_no, [(one, Failed("NO_FILE", "not there", after=3600.0)) for one in ids_of(fail_more)])
    look()
    assert on() == {("breaker", "tenant:default/T_QUIET"): 2}
    assert sum(one.returned for one in Pulse.objects.all()) == 26
    assert [(one.ok, one.failed) for one in ScopeMinute.objects.all()] == [(5, 21)]

    many("T_QUIET", 30)
    _refill()
    beat.dispatch()
    assert run_claimed() == {"T_QUIET": 1}


def test_a_trial_that_fails_keeps_the_breaker_open_and_one_that_nobody_needs_is_closed(beat):
    ran("T_PLAIN", failed=20)
    look()
    schedule("T_PLAIN", "trial", payload={"do": "retry", "after": 3600})
    _refill()
    beat.dispatch()
    assert run_claimed() == {"T_PLAIN": 1}
    look(300)
    assert on() == {("breaker", "tenant:default/T_PLAIN"): 2}

    Safeguard.objects.update(figures={"in_a_row": 0, "tried_at": 0.0})
    look(660)
    look(31)
    look(31)
    assert on() == {}


def run_claimed() -> Counter[str]:
    """What was given out runs to its end. Returns how many handlers of each type were called."""
    given = [batch.batch_no for batch in TaskBatch.objects.filter(started_at__isnull=True, finished_at__isnull=True)]
    for batch_no in given:
        run_batch(batch_no, guarded=False)
    called: Counter[str] = Counter()
    for batch in TaskBatch.objects.filter(batch_no__in=given):
        called[batch.task_type] += batch.ok + batch.failed
    return +called


def _ask_again(waiting: list[int]) -> None:
    """What was sent back is due again."""
    make_due(*ScheduleTask.objects.filter(id__in=waiting, status="INIT").values_list("id", flat=True))


def _refill() -> None:
    """Time is moved by writing it: the buckets of safeguards were last filled a minute ago."""
    Curb.objects.update(filled_at=Now() - timedelta(seconds=60))


def test_a_handler_that_takes_three_times_as_long_is_told_and_its_batches_shrink():
    ran("T_PLAIN", ok=120)
    TaskBatch.objects.update(run_us=120 * 1_000)
    look()
    sized = BatchSizes()
    sized.begin()
    before = sized.sizes["T_PLAIN"]
    look(1200)
    TaskBatch.objects.all().delete()
    ran("T_PLAIN", ok=40)
    TaskBatch.objects.update(run_us=40 * 10_000)
    look()
    look(61)

    assert on() == {("slow_handler", "T_PLAIN"): 1}
    assert Curb.objects.count() == 0
    sized.refresh()
    assert sized.sizes["T_PLAIN"] < before / 5

    for seconds in (180, 301):
        _took("T_PLAIN", 1_000)
        look(seconds)
    assert on() == {}
    assert SafeguardIncident.objects.get().closed_at is not None


def test_a_handler_that_goes_on_taking_longer_is_told_for_an_hour():
    _took("T_PLAIN", 1_000, tasks=120)
    look()
    look(1200)
    for seconds in (0, 61):
        _took("T_PLAIN", 10_000, tasks=120)
        look(seconds)
    assert on() == {("slow_handler", "T_PLAIN"): 1}

    _took("T_PLAIN", 10_000, tasks=120)
    look(1800)
    assert on() == {("slow_handler", "T_PLAIN"): 1}
    for seconds in (2400, 301):
        _took("T_PLAIN", 10_000)
        look(seconds)
    assert on() == {}


def _took(task_type: str, microseconds: int, tasks: int = 40) -> None:
    """So many of them have just run, and took so long each."""
    TaskBatch.objects.all().delete()
    ran(task_type, ok=tasks)
    TaskBatch.objects.update(run_us=tasks * microseconds)


def test_at_a_peak_of_the_daily_profile_low_is_slowed_and_nobody_is_alarmed(beat, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"DAILY_PROFILE": {"peaks": [{"from": "00:00", "to": "24:00", "rate": 0}]}}
    many("T_PLAIN", 3, lane="low")
    look()
    assert sizes(beat.dispatch(), "lane") == {}

    settings.PUNCTUAL = settings.PUNCTUAL | {"DAILY_PROFILE": {}}
    look()
    assert sizes(beat.dispatch(), "lane") == {"low": 3}
    assert SafeguardIncident.objects.count() == 0


# ---- what trips nothing ----


def _twice() -> dict:
    look()
    look(301)
    return on()


def test_a_paused_lane_trips_nothing():
    overdue(many("T_QUIET", 1), 100)
    lanes.pause("default", reason="the other system is down", by="ana")

    assert _twice() == {}


def test_a_type_with_a_limit_trips_nothing():
    overdue(many("T_RATED", 3), 100)

    assert _twice() == {}


def test_a_lane_without_a_worker_trips_nothing_nor_does_what_it_left():
    overdue(many("T_QUIET", 1), 100)
    Node.objects.all().delete()
    look()
    nodes.report_worker(nodes.new_node_id(), "w2", 4, list(LANES))

    assert _twice() == {}


def test_retries_in_a_paused_lane_and_of_a_type_with_a_limit_trip_nothing(settings):
    setting(settings, retries={"limit": 50}, failures={"mode": "off"}, breaker={"mode": "off"})
    declare_limits(REGISTRY)
    ran("T_PLAIN", failed=60, lane="low")
    ran("T_RATED", failed=60)
    ran("T_QUIET", failed=5)
    lanes.pause("low", reason="the other system is down", by="ana")

    assert _twice() == {}

    lanes.resume("low", reason="it is up again", by="ana")
    ran("T_QUIET", failed=1)
    assert _twice() == {("retries", "tenant:default/*"): 1}


def test_retries_that_a_restored_database_has_trip_nothing(settings):
    setting(settings, retries={"limit": 50}, failures={"mode": "off"}, breaker={"mode": "off"})
    ran("T_PLAIN", failed=60)
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(hours=5))
    PulseReader.objects.update(read_until=timezone.now() - timedelta(hours=4))

    assert _twice() == {}


def test_a_canary_without_a_worker_trips_nothing(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}
    send_canaries()
    overdue(list(ScheduleTask.objects.values_list("id", flat=True)), 100)
    Node.objects.all().delete()

    assert _twice() == {}


def test_a_canary_trips_nothing():
    [one] = many("T_QUIET", 1)
    ScheduleTask.objects.filter(id=one).update(task_type=CANARY)
    overdue([one], 100)

    assert _twice() == {}


def test_what_an_outage_has_left_trips_nothing():
    """Nobody looked for an hour; then all of it starts an hour late, some of it sooner and some later."""
    PulseReader.objects.update(read_until="2026-01-01T00:00:00Z")
    for seconds in (0, 0, 301):
        overdue(many("T_QUIET", 40), 3600)
        run_due()
        look(seconds)

    assert on() == {}


def test_a_backfill_trips_nothing():
    ran("T_PLAIN", failed=300, lane="backfill")

    assert _twice() == {}


def test_few_outcomes_trip_nothing():
    ran("T_PLAIN", ok=10, failed=9)
    ran("T_QUIET", ok=100, failed=5)

    assert _twice() == {}


# ---- the engine itself ----


def test_the_first_look_begins_and_a_batch_counts_once():
    PulseReader.objects.all().delete()
    assert guard() is None

    ran("T_PLAIN", ok=5, failed=16)
    guard()
    guard()

    assert [(one.task_type, one.ok, one.failed) for one in Pulse.objects.all()] == [("T_PLAIN", 5, 16)]


def test_dry_mode_only_tells(beat, settings):
    setting(settings, breaker={"mode": "tell"}, failures={"mode": "off"})
    ran("T_PLAIN", ok=5, failed=16)
    look()
    many("T_PLAIN", 30)

    assert sizes(beat.dispatch()) == {"T_PLAIN": 30}
    [incident] = SafeguardIncident.objects.all()
    assert (incident.dry, Curb.objects.count()) == (True, 0)

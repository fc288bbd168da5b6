"""What operators use: status, pruning and chores."""

import json
import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now

from django_punctual import schedule, schedule_many
from django_punctual.testing import run_due
from tasks_app import sql
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.engine import nodes
from tasks_app.engine.beat import mover
from tasks_app.engine.beat.alarms.alarm import alarm
from tasks_app.engine.beat.chores import ALL, CHORES, FIRST, Chores
from tasks_app.engine.beat.leases import Leases
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.canary import CANARY, send_canaries
from tasks_app.engine.operations import lanes
from tasks_app.engine.operations.campaigns import start_matching
from tasks_app.engine.watch.browse import Filter
from tasks_app.engine.watch.status import read_status
from tasks_app.lifecycle.audit_chain import chain
from tasks_app.lifecycle.campaigns import verbs as campaigns
from tasks_app.lifecycle.installation import look
from tasks_app.lifecycle.limited import Wanted, claim_limited, declare_limits
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.lifecycle.tenants import know
from tasks_app.lifecycle.unit_revision import is_newest
from tasks_app.models import (
    AlarmReader,
    AlarmRule,
    Curb,
    MaintenanceEntry,
    MinuteFigures,
    Node,
    ScheduleTask,
    TaskBatch,
    TenantArchive,
)
from tasks_app.sql import run
from tests.support.alarms import alarm_ids, rule
from tests.support.engine import claim_due, expire_lease
from tests.support.live import all_chores_are_done
from tests.support.moves import away, claimed, settled, started
from tests.support.operators import operator

pytestmark = pytest.mark.django_db(transaction=True)


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def status_page(*options: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("scheduler_status", *options, stdout=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    return out.getvalue(), 0


@pytest.fixture(autouse=True)
def _moved_once(settings, monkeypatch):
    """However slow the machine, no second move comes due in a test; and nobody has moved anything in this process."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"MOVE_SECONDS": 3600.0}
    monkeypatch.setattr(mover, "_walked_at", float("-inf"))


@pytest.fixture
def fleet():
    all_chores_are_done()
    beat = Chores(nodes.new_node_id(), "beat-1")
    beat.run_once()
    beat.wait_aside()
    Node.objects.update(renewed_at=Now())
    nodes.report_worker(
        nodes.new_node_id(), "worker-1", 2, ["critical", "high", "default", "low", "deferred", "backfill"]
    )


def test_status_is_well_when_somebody_dispatches_and_works(fleet):
    page, code = status_page()

    assert code == 0
    assert "All is well" in page
    assert "beat-1" in page
    assert "worker-1" in page


def test_status_says_that_no_beat_that_is_alive_dispatches(fleet):
    """All of them lost the broker, or the only one hangs; the thread that reports it as alive goes on."""
    Node.objects.update(renewed_at=None)

    assert any("none renews its shards" in problem for problem in read_status().problems())


def test_status_says_that_nobody_dispatches_and_nobody_works():
    page, code = status_page()

    assert code == 1
    assert "Nothing is dispatched" in page
    assert "No task can run" in page


def test_a_node_silent_for_too_long_is_not_live(fleet):
    execute("UPDATE punctual_node SET seen_at = now() - interval '1 minute'")

    assert not any(node.live for node in read_status().nodes)


def test_status_tells_a_lane_that_nobody_consumes(fleet):
    Node.objects.filter(kind=Node.WORKER).update(lanes=["default"])
    schedule("T_QUIET", "a", lane="critical")

    assert any("No worker consumes lane 'critical'" in problem for problem in read_status().problems())


def test_status_counts_due_running_overdue_and_dead(fleet):
    overdue = schedule("T_QUIET", "overdue", lane="low")
    execute(f"UPDATE punctual_task SET due_at = now() - interval '1 hour' WHERE id = {overdue.task_id}")
    schedule("T_QUIET", "running", lane="high")
    claim_due(lanes=["high"])
    schedule("T_QUIET", "scheduled", delay=3600)

    status = json.loads(status_page("--json")[0])

    assert (status["due"], status["claimed"], status["running"]) == (1, 1, 0)
    assert 3590 < status["oldest_overdue_seconds"] < 3700
    assert any("has been waiting" in problem for problem in status["problems"])


def test_status_shows_how_late_tasks_started(fleet):
    schedule_many("T_QUIET", [{"key": n} for n in range(100)])
    run_due()

    late = read_status().lateness

    assert late.succeeded == 100
    assert 0 <= late.p50_ms <= late.p95_ms <= late.p99_ms


@pytest.fixture
def lost_batch(settings):
    once = dict.fromkeys(["REAP_SECONDS", "MOVE_SECONDS", "SAFEGUARD_SECONDS", "METRICS_SECONDS"], 60.0)
    settings.PUNCTUAL = settings.PUNCTUAL | once  # however slow the machine, each is due once in these tests
    schedule("T_QUIET", "lost")
    [batch] = claim_due()
    expire_lease(batch)


def test_a_chore_is_done_by_one_beat_each_time_it_is_due(lost_batch):
    one, two = Chores(nodes.new_node_id(), "beat-1"), Chores(nodes.new_node_id(), "beat-2")

    first, second = one.run_once(), two.run_once()

    done = "compensate count levels move partition prune reap rescue roll_up safeguard tend"
    assert first == done.split()
    assert second == []
    one.wait_aside()
    MaintenanceEntry.objects.filter(name="prune").update(next_at="2020-01-01T00:00:00Z")
    assert two.run_once() == ["prune"]
    assert Node.objects.filter(kind=Node.BEAT).count() == 2


class Recorded(Chores):
    """Ends after a few looks, and knows for which chores it looked."""

    def look(self, names=ALL) -> None:
        self.seen = [*getattr(self, "seen", []), names]
        super().look(names)
        if len(self.seen) == 4:
            self._stopped.set()


def test_a_beat_that_has_just_started_leaves_what_can_wait_until_it_has_dispatched(lost_batch):
    beat = Recorded(nodes.new_node_id(), "beat-1")
    beat.run()
    beat.wait_aside()

    assert beat.seen == [FIRST, FIRST, ALL, ALL]
    assert Chores(nodes.new_node_id(), "beat-2").run_once(FIRST) == []  # the first has reaped
    MaintenanceEntry.objects.update(next_at="2020-01-01T00:00:00Z")
    TaskBatch.objects.update(finished_at=None, lease_until="2020-01-01T00:00:00Z")
    assert Chores(nodes.new_node_id(), "beat-2").run_once(FIRST) == ["reap"]


def test_a_chore_that_fails_takes_no_other_along():
    schedule("T_QUIET", "stranded")
    claim_due()
    execute("UPDATE punctual_batch SET finished_at = now()")  # what rescue is for
    execute("ALTER TABLE punctual_away_outcome RENAME TO punctual_away_outcome_gone")
    beat = Chores(nodes.new_node_id(), "beat-1")
    try:
        assert "rescue" in beat.run_once()
    finally:
        beat.wait_aside()
        execute("ALTER TABLE punctual_away_outcome_gone RENAME TO punctual_away_outcome")

    assert ScheduleTask.objects.get().status == "INIT"


def test_a_reap_is_done_only_when_there_is_something_to_reap(lost_batch):
    beat = Chores(nodes.new_node_id(), "beat-1")
    assert "reap" in beat.run_once()
    beat.wait_aside()
    assert TaskBatch.objects.get().reaped

    MaintenanceEntry.objects.filter(name__in=["reap", "move"]).update(next_at="2020-01-01T00:00:00Z")

    assert beat.run_once() == []  # nor is there anything to move, and its walk is not due again
    assert MaintenanceEntry.objects.get(name="reap").next_at.year > 2020  # it was looked at all the same


def test_what_is_away_is_looked_for_only_when_a_lease_has_run_out(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"REAP_SECONDS": 60.0}
    [gone] = away("gone").tasks
    beat = Chores(nodes.new_node_id(), "beat-1")
    assert "lose" not in beat.run_once()
    beat.wait_aside()

    execute("UPDATE punctual_away SET until = now() - interval '1 s'")
    MaintenanceEntry.objects.filter(name="lose").update(next_at="2020-01-01T00:00:00Z")

    assert "lose" in beat.run_once()
    assert ScheduleTask.objects.get(id=gone.id).error_code == "LOST"


def a_paused_campaign() -> None:
    schedule("T_QUIET", "to be cancelled", delay=3600)
    campaigns.pause(start_matching(Verb.CANCEL, Filter(tenant="default"), operator()).id, operator())


def a_rule_that_is_off() -> None:
    rule()
    AlarmRule.objects.update(enabled=False)
    AlarmReader.objects.all().delete()


def an_alert_that_was_sent() -> None:
    alarm_ids()
    AlarmRule.objects.update(enabled=False)
    AlarmReader.objects.all().delete()


def a_curb_of_a_safeguard() -> None:
    Curb.objects.create(name="delay", kind="lane", target="low", rate=0.0)


def a_minute_of_now() -> None:
    MinuteFigures.objects.create(minute=Now(), task_type="T_QUIET", batches=1, ok=1, failed=0, run_us=1, lateness=[1])


# What a chore is for: nearly there, and there.
CAUSES = {
    "reap": (lambda: claimed("a"), "UPDATE punctual_batch SET lease_until = now() - interval '1 s'"),
    "lose": (lambda: away("a"), "UPDATE punctual_away SET until = now() - interval '1 s'"),
    "campaign": (a_paused_campaign, "UPDATE punctual_campaign SET state = 'RUNNING', next_at = now()"),
    "overdue": (look, "UPDATE punctual_installation SET answer = '{}'"),
    "release": (lambda: None, "INSERT INTO punctual_wait (task, parent) VALUES (2, 1)"),
    "unfreeze": (a_curb_of_a_safeguard, "UPDATE punctual_curb SET name = 'recovery'"),
    "site": (look, "UPDATE punctual_installation SET site_recovery = 1"),
    "tenants": (lambda: know(["acme"]), "UPDATE punctual_tenant SET state = 'SUSPENDED' WHERE name = 'acme'"),
    "tenant_archive": (
        lambda: TenantArchive.objects.create(tenant="acme", folder="tenants/acme/x", state="STOPPED"),
        "UPDATE punctual_tenant_archive SET state = 'RUNNING'",
    ),
    "quotas": (lambda: know(["acme"]), "UPDATE punctual_tenant SET max_jobs = 1 WHERE name = 'acme'"),
    "move": (lambda: settled(started("a")), "UPDATE punctual_batch SET finished_at = now() - interval '1 hour'"),
    "hours": (a_minute_of_now, "UPDATE punctual_minute_figures SET minute = now() - interval '3 hours'"),
    "alarm": (a_rule_that_is_off, "UPDATE punctual_alarm_rule SET enabled = TRUE"),
    "chain": (lambda: None, "INSERT INTO punctual_audit_unchained (entry_id, created_at) VALUES (1, now())"),
    "alert": (an_alert_that_was_sent, "UPDATE punctual_alarm_alert SET done_at = NULL"),
}


def taken(*wanted: str) -> list[str]:
    """Of the chores that may be idle, those that a beat is given to do if all of them are due."""
    run("declare_chores", {"names": list(CAUSES)})
    MaintenanceEntry.objects.update(next_at="2020-01-01T00:00:00Z")
    beat = {"node_id": nodes.new_node_id(), "name": "beat-1", "site": "main", "dispatching": False, "figures": None}
    due = {"names": list(CAUSES), "everys": [60.0] * len(CAUSES), "wanted": list(wanted), "keep": 600.0}
    found = [name for (name,) in run("take_chores", beat | due | {"done": [], "ago": []})]
    assert not MaintenanceEntry.objects.filter(next_at__year=2020).exists()
    return found


def test_all_chores_that_may_be_idle_are_looked_at_here():
    idle = re.findall(r"SELECT '(\w+)'", sql._text("take_chores").partition("idle AS")[2])
    assert sorted(idle) == sorted(CAUSES)


@pytest.mark.parametrize("name", CAUSES)
def test_a_chore_is_idle_until_there_is_something_to_do_for_it(name):
    nearly, there = CAUSES[name]
    nearly()
    chain()
    assert taken() == []
    assert MaintenanceEntry.objects.get(name=name).done_at is not None

    execute(there)

    assert taken() == [name]


def test_what_no_table_shows_is_done_because_the_beat_wants_it():
    assert taken("move") == ["move"]


def test_the_position_of_alarms_is_forgotten_once_after_the_last_rule():
    a_rule_that_is_off()
    chain()
    run("begin_reader", {})

    assert taken() == ["alarm"]
    alarm()
    assert taken() == []


def test_killed_processes_are_forgotten_in_time(fleet):
    execute("UPDATE punctual_node SET seen_at = now() - interval '2 hours' WHERE kind = 'BEAT'")

    assert prune().nodes == 1
    assert Node.objects.get().kind == Node.WORKER


def test_a_revision_is_pruned_when_it_is_old_and_its_unit_has_no_task():
    units = [("default", "T_QUIET", key) for key in ("old", "fresh", "scheduled", "done", "again")]
    for unit in units:
        assert is_newest(unit, 5)
    schedule("T_QUIET", "done")
    run_due()
    schedule("T_QUIET", "scheduled", delay=60)
    execute("UPDATE punctual_unit_revision SET changed_at = now() - interval '91 days' WHERE biz_key <> 'fresh'")
    assert is_newest(units[4], 5)  # its newest change came once more

    assert prune().revisions == 1

    assert not any(is_newest(unit, 4) for unit in units[1:])
    assert is_newest(units[0], 4)


def test_status_shows_who_holds_which_shard_under_which_number_and_who_took_over(fleet):
    Node.objects.filter(kind=Node.BEAT).delete()
    one, two = (Leases(nodes.new_node_id(), name, lambda _: None) for name in ("beat-1", "beat-2"))
    one.run_once()
    two.run_once()
    one.run_once()
    execute("UPDATE punctual_shard_lease SET lease_until = now() - interval '1 s' WHERE holder_name = 'beat-2'")
    page, _ = status_page()
    assert "nobody" in page
    assert any("No beat dispatches shards" in problem for problem in read_status().problems())

    one.run_once()

    status = read_status()
    assert {view.holder for view in status.shards} == {"beat-1"}
    assert sorted({view.fence for view in status.shards}) == [1, 3]
    latest = status.takeovers[0]
    assert (latest.holder, latest.how, latest.from_whom, len(latest.shards)) == ("beat-1", "EXPIRED", "beat-2", 8)
    page, _ = status_page()
    assert "from beat-2, whose lease had run out" in page
    assert "0#3" in page


def test_status_says_that_no_beat_knows_the_shards_that_tasks_are_scheduled_in(fleet, settings):
    """SHARDS was raised, and the processes that schedule were restarted before the beats."""
    Leases(nodes.new_node_id(), "beat-1", lambda _: None).run_once()
    assert read_status().problems() == []

    settings.PUNCTUAL = settings.PUNCTUAL | {"SHARDS": 32}
    assert any("the beats know 16" in problem for problem in read_status().problems())

    Leases(nodes.new_node_id(), "beat-2", lambda _: None).run_once()
    assert read_status().problems() == []


def test_status_shows_a_paused_lane_with_its_reason_and_takes_it_for_no_trouble(fleet):
    schedule("T_QUIET", "a", lane="low")
    execute("UPDATE punctual_task SET due_at = now() - interval '1 hour'")
    lanes.pause("low", reason="nightly import", by="ana")

    page, code = status_page()

    assert code == 0
    assert "paused by ana: nightly import" in page


def test_status_shows_the_limits_in_force(fleet):
    declare_limits(REGISTRY)
    schedule_many("T_THREE", [{"key": n} for n in range(5)])
    claim_limited([Wanted("T_THREE", "default", 10)], {}, "test")

    [three] = [one for one in read_status().limits if one.task_type == "T_THREE"]

    assert (three.max_running, three.running, three.claimed, three.due) == (3, 3, 3, 2)
    assert "at most 3 at once; 0 running, 3 claimed, 2 due, the oldest for " in status_page()[0]
    assert read_status().due == 2


def test_what_waits_for_its_limit_is_due_but_not_late(fleet):
    declare_limits(REGISTRY)
    schedule("T_THREE", "a")
    execute("UPDATE punctual_task SET due_at = now() - interval '1 hour'")

    status = read_status()

    assert (status.due, status.oldest_overdue_seconds, status.problems()) == (1, None, [])


def test_status_says_that_no_beat_knows_the_limit_that_tasks_wait_for(fleet):
    schedule("T_THREE", "a")

    status = read_status()

    assert status.due == 1
    assert any("No beat knows the limit of type 'T_THREE'" in problem for problem in status.problems())
    declare_limits(REGISTRY)
    assert read_status().problems() == []


@pytest.fixture
def canaries_fly(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}


def test_a_canary_flies_in_every_lane_that_has_a_worker_and_is_not_paused(fleet, canaries_fly):
    Node.objects.filter(kind=Node.WORKER).update(lanes=["critical", "default", "low"])
    lanes.pause("low", reason="test", by="test")

    send_canaries()
    send_canaries()

    assert sorted(ScheduleTask.objects.values_list("biz_key", "lane")) == [
        ("critical", "critical"),
        ("default", "default"),
    ]


def test_no_canary_is_sent_where_all_workers_are_silent(fleet, canaries_fly):
    Node.objects.filter(kind=Node.WORKER).update(seen_at=Now() - timedelta(hours=1))

    send_canaries()

    assert not ScheduleTask.objects.exists()


def test_a_canary_goes_the_real_way_again_and_again_and_its_age_is_part_of_the_status(fleet, canaries_fly):
    send_canaries()
    run_due()

    assert {row.status for row in ScheduleTask.objects.all()} == {"SUCCESS"}
    assert all(row.due_at - row.finish_time == timedelta(seconds=10) for row in ScheduleTask.objects.all())
    assert all(lane.canary_seconds < 5 for lane in read_status().lanes)
    assert read_status().lateness.succeeded == 0  # they are nobody's tasks


def test_a_canary_that_does_not_come_back_is_trouble_unless_its_lane_is_paused(fleet, canaries_fly):
    send_canaries()
    execute("UPDATE punctual_task SET created_at = now() - interval '1 hour', due_at = now() + interval '1 hour'")

    assert sum("has not come back" in problem for problem in read_status().problems()) == len(LANES)
    execute("UPDATE punctual_task SET due_at = now()")
    assert read_status().due == 0  # they are nobody's tasks

    for lane in LANES:
        lanes.pause(lane, reason="test", by="test")
    assert read_status().problems() == []


@pytest.mark.parametrize("seconds", [0, 0.000001])
def test_a_canary_of_an_earlier_setting_is_not_missing(fleet, canaries_fly, settings, seconds):
    send_canaries()
    run_due()

    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": seconds}

    assert read_status().problems() == []


def test_a_canary_that_was_reaped_has_not_come_back(fleet, canaries_fly):
    send_canaries()
    run_due()
    execute("UPDATE punctual_task SET start_time = now() - interval '1 hour', due_at = now()")
    for batch in claim_due():
        start(batch.batch_no, "a worker that dies")
        expire_lease(batch)
    assert len(reap()) == len(LANES)

    assert all(lane.canary_seconds > 3000 for lane in read_status().lanes)
    assert sum("has not come back" in problem for problem in read_status().problems()) == len(LANES)


def test_canaries_that_fly_already_do_so_as_often_as_the_setting_says_now(fleet, canaries_fly, settings):
    beat = Chores(nodes.new_node_id(), "beat-1")
    assert "canary" in beat.run_once()
    run_due()
    assert "canary" not in beat.run_once()

    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 5.0}

    assert "canary" in beat.run_once()  # and not when it was to be by the old setting
    beat.wait_aside()
    rows = ScheduleTask.objects.filter(task_type=CANARY)
    assert {row.repeat_after for row in rows} == {timedelta(seconds=5)}
    assert all(row.due_at - row.finish_time <= timedelta(seconds=6) for row in rows)


def test_the_row_of_a_chore_says_when_it_was_done_and_since_when_and_why_it_fails(fleet, canaries_fly):
    beat = Chores(nodes.new_node_id(), "beat-1")
    MaintenanceEntry.objects.update(done_at=None)

    def entry() -> MaintenanceEntry:
        MaintenanceEntry.objects.update(next_at=Now())
        beat.run_once()
        beat.wait_aside()
        return MaintenanceEntry.objects.get(name="canary")

    canary = REGISTRY.get(CANARY)
    REGISTRY.discard(CANARY)
    try:
        first, second = entry(), entry()
    finally:
        REGISTRY.add(canary)
    well = entry()

    assert (first.failures, second.failures, first.done_at, second.done_at) == (1, 2, None, None)
    assert second.failing_since == first.failing_since is not None
    assert first.error.startswith("task type 'PUNCTUAL_CANARY' has no handler.")
    assert (well.failures, well.failing_since, well.error) == (0, None, "")
    assert well.done_at >= well.ran_at
    never = [chore.name for chore in CHORES if not chore.every()]
    assert not MaintenanceEntry.objects.filter(done_at=None).exclude(name__in=never).exists()  # the others were done


def test_a_clock_that_was_set_back_puts_off_no_chore(fleet):
    beat = Chores(nodes.new_node_id(), "beat-1")
    beat.run_once()
    beat.wait_aside()
    execute("UPDATE punctual_chore SET next_at = now() + interval '1 day'")

    assert {"prune", "roll_up", "rescue", "compensate"} <= set(beat.run_once())
    beat.wait_aside()
    assert not {"prune", "roll_up", "rescue", "compensate"} & set(beat.run_once())


def test_a_canary_that_waits_for_busy_slots_asks_for_workers_and_not_for_a_restart(fleet, canaries_fly):
    send_canaries()
    execute("UPDATE punctual_task SET created_at = now() - interval '1 hour', due_at = now() + interval '1 hour'")
    assert all("Restart that worker" in problem for problem in read_status().problems())
    Node.objects.filter(kind=Node.WORKER).update(slots=1)
    schedule("T_QUIET", "long")
    [batch] = claim_due()
    start(batch.batch_no, "worker")

    assert all("the only slot that serves the lane is busy" in problem for problem in read_status().problems())


def test_canaries_that_were_turned_off_stop(fleet, canaries_fly, settings):
    send_canaries()
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 0}

    run_due()

    assert set(ScheduleTask.objects.values_list("status", flat=True)) == {"CANCELLED"}
    beat = Chores(nodes.new_node_id(), "beat-1")
    assert "canary" not in beat.run_once()
    beat.wait_aside()

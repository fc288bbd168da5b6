"""The verdict: "All is well" is said when it is, and status, pages and API say the same of what is not."""

import json
import re
from datetime import timedelta
from io import StringIO
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from django_punctual import schedule, schedule_many
from tasks_app.alarm_looks import troubles
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.core.scans import SCANS
from tasks_app.engine import nodes
from tasks_app.engine.beat.chores import CHORES, Chores
from tasks_app.engine.canary import CANARY
from tasks_app.engine.operations import lanes
from tasks_app.engine.operations.recovery.course import recover
from tasks_app.engine.operations.recovery.steps import Course
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.verdict.judge import RULES
from tasks_app.lifecycle.recovery import begin
from tasks_app.lifecycle.start import start
from tasks_app.models import JobCursor, MaintenanceEntry, Node, ScheduleTask, TaskBatch
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import claim_due, expire_lease, run_due
from tests.support.live import all_chores_are_done
from tests.support.marks import commits
from tests.support.moves import dead
from tests.support.operators import operator
from tests.support.recovery import no_step_for

pytestmark = commits

with_people = pytest.mark.django_db(transaction=True)  # who are in no app of ours
WELL = "All is well"
OK, TROUBLE = 0, 1


def execute(statement: str, params=None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)


def status_page(*options: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("scheduler_status", *options, stdout=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    return out.getvalue(), 0


def told() -> tuple[str, int]:
    """What stands below the figures, and the exit code."""
    page, code = status_page()
    return page.rpartition("\n\n")[2].strip(), code


@pytest.fixture
def beat(settings) -> Chores:
    # Nobody falls silent while a test runs.
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 30.0, "SHARD_LEASE_SECONDS": 30.0}
    all_chores_are_done()
    beat = Chores(nodes.new_node_id(), "beat-1")
    beat.run_once()
    beat.wait_aside()
    Node.objects.update(renewed_at=Now())
    return beat


@pytest.fixture(autouse=True)
def worker(beat) -> None:
    """With a beat whose chores are done, all is well: the first test says so for all of them."""
    nodes.report_worker(nodes.new_node_id(), "worker-1", 2, list(LANES))


def do_chores(beat: Chores, *names: str) -> None:
    """These are due, and done."""
    MaintenanceEntry.objects.filter(name__in=names).update(next_at="2020-01-01T00:00:00Z")
    beat.run_once()
    beat.wait_aside()


def test_after_a_round_of_all_chores_all_is_well(beat):
    MaintenanceEntry.objects.all().delete()
    beat.run_once()
    beat.wait_aside()
    Node.objects.update(renewed_at=Now())

    assert told() == (f"{WELL}.", OK)


# ---- dead, paused ----


def test_dead_tasks_are_told_and_page_nobody():
    assert told() == (f"{WELL}.", OK)

    dead("a")
    assert told() == ("- 1 task is dead. The page Dead letters says why it gave up; replay or discard it there.", OK)

    dead("b", "c")
    assert told()[0].startswith("- 3 tasks are dead.")


def test_due_tasks_of_a_paused_lane_are_told_and_page_nobody():
    lanes.pause("low", reason="nightly import", by="ana")
    assert told() == (f"{WELL}.", OK)

    schedule("T_QUIET", "a", lane="low")

    words, code = told()
    assert code == OK
    assert words.startswith("- Lane 'low' is paused, and 1 task is due in it.")
    assert "manage.py lane resume low" in words


def test_a_recovery_that_was_killed_is_trouble_until_it_goes_on_or_lets_go():
    def recover_until(step: str) -> None:
        one = Course(begin("INC-1", operator(), grade="P2").row, operator(), wait=lambda seconds: None)
        one.say = lambda words: 1 / 0 if words.startswith(step) else None
        with pytest.raises(ZeroDivisionError):
            recover(one)

    recover_until("reap")
    schedule("T_QUIET", "a", lane="low")
    no_step_for(14)
    held = "A recovery holds lanes low, backfill and backfills"
    assert told() == (f"- {held} until it is done; 1 task is due in low. The incident: INC-1.", OK)

    no_step_for(2)
    words, code = told()
    assert code == TROUBLE
    assert words.startswith(f"! {held}, and has done no step for 16 min; 1 task is due in low. The incident: INC-1.")
    assert "a beat lets go of them in 44 min. `manage.py recover INCIDENT` goes on" in words
    assert "--from unfreeze` lets go now" in words

    recover_until("doctor")
    assert told()[1] == OK  # a step was done

    no_step_for(16)
    call_command("recover", "INC-1", "--from", "unfreeze", stdout=StringIO(), stderr=StringIO())
    assert "recovery" not in told()[0]


# ---- late ----


def started_late(tasks: int, seconds: float, minutes_ago: int = 0) -> None:
    """So many tasks that each started so late, in batches that finished so long ago."""
    before = set(TaskBatch.objects.values_list("batch_no", flat=True))
    count = ScheduleTask.objects.count()
    schedule_many("T_QUIET", [{"key": count + n} for n in range(tasks)])
    execute("UPDATE punctual_task SET due_at = due_at - make_interval(secs => %s) WHERE due_at < now()", [seconds])
    run_due()
    TaskBatch.objects.exclude(batch_no__in=before).update(finished_at=F("finished_at") - timedelta(minutes=minutes_ago))


def test_tasks_that_start_late_are_trouble():
    up_for_an_hour()
    started_late(30, 1.0)
    assert told() == (f"{WELL}.", OK)

    started_late(30, 5.0)

    words, code = told()
    assert code == TROUBLE
    assert words.startswith("! Tasks start late: in the last 5 minutes, 5% of 60 by more than ")


def test_what_had_to_wait_for_workers_that_have_just_come_is_no_trouble_but_told():
    started_late(30, 5.0)

    words, code = told()
    assert (words[:2], code) == ("- ", OK)
    assert "no worker has been up for longer than" in words


def test_one_late_task_of_a_few_is_no_trouble_but_told():
    up_for_an_hour()
    started_late(3, 5.0)

    words, code = told()
    assert (words[:2], code) == ("- ", OK)
    assert "5% of 3" in words


def test_what_was_late_and_is_on_time_again_is_no_trouble_but_told():
    up_for_an_hour()
    started_late(30, 5.0, minutes_ago=3)
    started_late(30, 0.0)

    words, code = told()
    assert (words[:2], code) == ("- ", OK)
    assert "those of the last minute were on time" in words


def test_the_last_percent_is_told_when_it_is_very_late():
    started_late(98, 0.0)
    started_late(2, 12.0)

    words, code = told()
    assert (words[:2], code) == ("- ", OK)
    assert "1% of 100 by more than 1" in words


# ---- workers and their lanes ----


def test_a_dead_only_worker_is_trouble():
    Node.objects.filter(kind=Node.WORKER).update(seen_at=Now() - timedelta(minutes=1))

    words, code = told()
    assert code == TROUBLE
    assert "No task can run" in words


@pytest.fixture
def last_of_its_lane():
    """The only worker of `critical` has died; another serves the others."""
    Node.objects.filter(kind=Node.WORKER).update(seen_at=Now() - timedelta(minutes=1), lanes=["critical"])
    nodes.report_worker(nodes.new_node_id(), "worker-2", 2, [lane for lane in LANES if lane != "critical"])


def test_the_dead_only_worker_of_a_lane_is_told_and_is_trouble_when_something_is_due(last_of_its_lane):
    words, code = told()
    assert code == OK
    assert words.startswith("- No worker consumes lane 'critical' any more")

    schedule("T_QUIET", "a", lane="critical")

    words, code = told()
    assert code == TROUBLE
    assert words.startswith("! No worker consumes lane 'critical', and 1 task is due in it.")


def test_a_lane_that_its_workers_have_left_for_good_is_forgotten(canaries_fly, last_of_its_lane, beat):
    """They said goodbye, so that nobody waits for them: its canary comes down with the next chore."""
    Node.objects.filter(name="worker-1").delete()
    execute("UPDATE punctual_task SET start_time = now() - interval '1 hour' WHERE biz_key = 'critical'")
    assert told()[0].startswith("- No worker consumes lane 'critical' any more")

    do_chores(beat, "canary")

    assert told() == (f"{WELL}.", OK)
    nodes.report_worker(nodes.new_node_id(), "worker-3", 2, ["critical"])
    do_chores(beat, "canary")
    assert ScheduleTask.objects.filter(task_type=CANARY, biz_key="critical", due_at__isnull=False).count() == 1


# ---- canaries ----


@pytest.fixture
def canaries_fly(settings, worker, beat):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}
    do_chores(beat, "canary")
    run_due()
    up_for_an_hour()


def up_for_an_hour() -> None:
    """All processes are."""
    Node.objects.update(started_at=Now() - timedelta(hours=1))


@pytest.fixture
def no_canary(settings, worker):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 10.0}


def test_canaries_that_never_flew_are_trouble_unless_the_processes_have_just_come(no_canary, beat):
    assert told() == (f"{WELL}.", OK)

    up_for_an_hour()

    words, code = told()
    assert code == TROUBLE
    lanes = ", ".join(LANES)
    assert f"! No canary has ever run in lanes {lanes}, although workers serve them." in words
    do_chores(beat, "canary")
    assert told() == (f"{WELL}.", OK)


def test_canaries_that_can_not_be_scheduled_are_told_at_once_and_are_trouble_when_it_stays_so(no_canary, beat):
    handler = REGISTRY.get(CANARY)
    REGISTRY.discard(CANARY)
    try:
        do_chores(beat, "canary")
        words, code = told()
        assert (words[:2], code) == ("- ", OK)
        assert "chore canary" in words
        assert "task type 'PUNCTUAL_CANARY' has no handler" in words

        do_chores(beat, "canary")
        words, code = told()
        assert (words[:2], code) == ("! ", TROUBLE)
    finally:
        REGISTRY.add(handler)

    do_chores(beat, "canary")
    assert told() == (f"{WELL}.", OK)


def test_a_lane_that_goes_on_gets_its_canary_with_the_next_look_at_the_chores(canaries_fly, beat):
    lanes.pause("low", reason="test", by="test")
    ScheduleTask.objects.filter(biz_key="low").delete()

    lanes.resume("low", reason="test", by="test")

    assert "canary" in beat.run_once()
    assert told() == (f"{WELL}.", OK)


# ---- one cause ----


def _everything_waits(beat: Chores) -> None:
    """What waits for a beat has waited for minutes: canaries, tasks, a firing, a lost batch and an audit entry."""
    execute("UPDATE punctual_task SET start_time = now() - interval '3 min' WHERE task_type = %s", [CANARY])
    schedule("T_QUIET", "lost")
    [batch] = claim_due()
    start(UUID(batch.batch_no), "worker-1")
    execute("UPDATE punctual_batch SET lease_until = now() - interval '4 min' WHERE finished_at IS NULL")
    late = schedule("T_QUIET", "late").task_id
    ScheduleTask.objects.filter(id=late).update(due_at=Now() - timedelta(minutes=4))
    JobCursor.objects.create(every=60, shard=0, next_fire=Now() - timedelta(minutes=4))
    lanes.pause("low", reason="to write an audit entry", by="ana")


@with_people
def ageless(text: str) -> str:
    """Without its seconds: each report reads the clock again."""
    return re.sub(r"\d+ s\b", "some seconds", text)


def test_with_the_beat_stopped_verdict_status_overview_and_health_name_one_cause(canaries_fly, beat):
    _everything_waits(beat)
    before = {one.rule for one in read_status().found}
    assert {"canary_not_back", "overdue", "planning_behind", "lost_and_not_reaped"} <= before

    Node.objects.filter(kind=Node.BEAT).delete()

    status = read_status()
    [cause] = status.found
    assert cause.rule == "no_dispatcher"
    assert str(cause).startswith("Nothing is dispatched: no beat is alive. Start `")
    assert "The oldest due task has been waiting for 24" in str(cause)
    assert {"canary_not_back", "overdue"} <= status.broken  # their figures stand out
    client = client_of(person("vera", "punctual.view_scheduletask", "punctual.view_jobdefinition"))
    health = client.get("/api/v1/scheduler/health", headers={"X-Tenant": "default"}).json()
    assert [ageless(one) for one in health["problems"]] == [ageless(str(cause))]
    assert health["notices"] == []
    page, code = told()
    assert (ageless(page), code) == (ageless(f"! {cause}"), TROUBLE)
    overview = client.get("/admin/").content.decode()
    assert overview.count("Attention:") == 1 and "Restart that worker" not in overview
    assert [one.cause for one in troubles()] == ["no_dispatcher"]


def test_a_beat_that_lives_and_does_not_dispatch_explains_no_chore_that_is_left_undone(canaries_fly, beat):
    _everything_waits(beat)
    Node.objects.update(renewed_at=None)

    rules = [one.rule for one in read_status().found]

    assert rules == ["no_dispatcher", "lost_and_not_reaped"]


# ---- leases and chores ----


def test_a_lease_that_ran_out_and_was_not_reaped_is_trouble(beat):
    schedule_many("T_QUIET", [{"key": n} for n in range(3)])
    [batch] = claim_due()
    expire_lease(batch)
    assert told() == (f"{WELL}.", OK)  # the reaper comes soon

    execute("UPDATE punctual_batch SET lease_until = now() - interval '40 s'")

    words, code = told()
    assert code == TROUBLE
    assert "! 1 batch lost its lease 40 s ago, and its tasks aren't due again yet." in words
    do_chores(beat, "reap")
    run_due()
    assert told() == (f"{WELL}.", OK)


def test_a_chore_that_nobody_does_is_trouble_although_a_beat_is_alive(beat):
    long_ago = "UPDATE punctual_chore SET next_at = now() - interval '2 minutes' WHERE name IN ('reap', 'prune')"
    execute(long_ago)
    assert told() == (f"{WELL}.", OK)  # the beat has just come

    up_for_an_hour()

    words, code = told()
    assert code == TROUBLE
    assert "! Nobody is doing the chores reap, prune: they have been due for 2 min, although a beat is alive." in words
    beat.run_once()
    assert told() == (f"{WELL}.", OK)


def test_chores_that_can_not_be_taken_have_not_failed_and_are_reported_once_they_wait(beat):
    """As it was with knobs of mixed kinds: the statement that takes them fails, for all of them."""
    up_for_an_hour()
    execute("UPDATE punctual_chore SET next_at = now() - interval '2 minutes'")
    execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no chores today'; END $$;"
        "CREATE TRIGGER refuse BEFORE UPDATE OF ran_at ON punctual_chore EXECUTE FUNCTION refuse()"
    )
    try:
        for _ in range(2):
            beat.look()
    finally:
        execute("DROP FUNCTION refuse CASCADE")

    words, code = told()
    assert code == TROUBLE
    every = ", ".join(chore.name for chore in CHORES if chore.every() > 0)
    assert f"Nobody is doing the chores {every}: they have been due for 2 min, although a beat is alive." in words
    assert "failing" not in words


def test_a_chore_that_begins_and_never_ends_is_told(beat):
    up_for_an_hour()
    execute("UPDATE punctual_chore SET done_at = now() - interval '2 hours' WHERE name = 'compensate'")
    words, code = told()
    assert (words[:2], code) == ("- ", OK)
    assert "The chore compensate was last finished 2 h ago" in words

    execute("UPDATE punctual_chore SET done_at = NULL WHERE name = 'compensate'")
    assert "The chore compensate was never finished" in told()[0]


def test_an_archive_that_goes_on_being_written_is_not_taken_for_one_that_hangs(beat, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": "/nowhere"}
    Node.objects.update(started_at=Now() - timedelta(hours=4))
    execute(
        "INSERT INTO punctual_chore (name, next_at, ran_at, done_at)"
        " VALUES ('archive', now() + interval '1 minute', now(), now() - interval '3 hours') ON CONFLICT (name)"
        " DO UPDATE SET next_at = excluded.next_at, ran_at = excluded.ran_at, done_at = excluded.done_at"
    )
    execute(
        "INSERT INTO punctual_leaving (name, oid, fence, holder, held_until)"
        " VALUES ('punctual_task', 'punctual_task'::regclass::oid::bigint, 1, 'beat', now() + interval '1 minute')"
    )
    assert "The chore archive" not in told()[0]

    execute("UPDATE punctual_leaving SET held_until = now() - interval '1 minute'")
    assert "The chore archive was last finished 3 h ago" in told()[0]


def test_a_scan_that_fails_is_a_chore_that_fails(beat):
    def broken(dry_run: bool):
        raise RuntimeError("the scan is broken\nand this is nobody's business")

    SCANS.add("broken", broken)
    try:
        do_chores(beat, "compensate")
    finally:
        SCANS.discard("broken")

    words, _ = told()
    assert "scan broken: the scan is broken" in words
    assert "nobody's business" not in words


# ---- claimed is not running ----


@with_people
def test_what_is_claimed_is_not_running():
    schedule_many("T_QUIET", [{"key": n} for n in range(10)])
    batches = claim_due(size=1)
    for batch in batches[:2]:
        start(batch.batch_no, "worker-1")

    status = json.loads(status_page("--json")[0])
    page, _ = status_page()
    overview = client_of(person("vera", "punctual.view_scheduletask")).get("/admin/").content.decode()

    assert (status["running"], status["claimed"]) == (2, 8)
    assert "Tasks claimed: 8 in 8 batches; running: 2 in 2 batches; away: 0; dead: 0." in page
    assert "<span>Running</span> <b>2</b> <small>in 2 batches</small>" in overview
    assert "<span>Claimed, not started</span> <b>8</b> <small>in 8 batches</small>" in overview


@with_people
def test_status_pages_and_api_say_the_same():
    dead("a")
    execute("UPDATE punctual_node SET renewed_at = NULL")

    status = json.loads(status_page("--json")[0])
    page, _ = status_page()
    client = client_of(person("vera", "punctual.view_scheduletask", "punctual.view_jobdefinition"))
    overview = client.get("/admin/").context
    health = client.get("/api/v1/scheduler/health", headers={"X-Tenant": "default"}).json()

    assert len(status["problems"]) == len(status["notices"]) == 1
    assert (status["verdict"], health["status"]) == ("trouble", "trouble")
    assert (health["problems"], health["notices"]) == (status["problems"], status["notices"])
    assert [str(one) for one in overview["status"].found] == status["problems"] + status["notices"]
    assert all(sentence in page for sentence in status["problems"] + status["notices"])


@with_people
def test_the_words_of_an_error_are_for_operators_and_not_for_callers_of_the_api():
    execute("UPDATE punctual_chore SET failures = 2, failing_since = now(), error = 'at /srv/x' WHERE name = 'prune'")
    client = client_of(person("vera", "punctual.view_scheduletask", "punctual.view_jobdefinition"))

    health = client.get("/api/v1/scheduler/health", headers={"X-Tenant": "default"}).content.decode()

    assert "The chore prune has been failing" in health
    assert "/srv/x" not in health
    for page in ("/admin/", "/admin/punctual/node/"):
        assert "The error: at /srv/x." in client.get(page).content.decode()


def test_every_rule_is_in_the_docs():
    page = (Path(__file__).resolve().parents[3] / "docs" / "dispatcher.md").read_text()

    assert [rule.__name__ for rule in RULES if f"`{rule.__name__}`" not in page] == []

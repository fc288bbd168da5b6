"""`manage.py recover`: every step is done once, in order, however often it is killed; and what it tells."""

import json
from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from django_punctual import ToFunction, subscribe
from tasks_app.core.errors import InvalidTask, RetryLimited
from tasks_app.core.overdue import Answer, Choice
from tasks_app.core.recovery import STEPS, Grade, Step
from tasks_app.engine import nodes
from tasks_app.engine.beat.unfreeze import unfreeze
from tasks_app.engine.operations import lanes, quarantine, site
from tasks_app.engine.operations.recovery.course import recover
from tasks_app.engine.operations.recovery.report import as_dict, as_page, as_result
from tasks_app.engine.operations.recovery.steps import StepFailed, to_replay
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle import subscriptions
from tasks_app.lifecycle.installation import look
from tasks_app.lifecycle.recovery import Overtaken, begin, what_may_be_lost
from tasks_app.lifecycle.safeguards.curbs import refuse_backfills
from tasks_app.metrics.reading import read
from tasks_app.models import (
    AuditEntry,
    Campaign,
    Installation,
    LanePause,
    Node,
    OutboxWindow,
    Recovery,
    ShardLease,
    Subscription,
)
from tests.support.engine import expire_lease, row
from tests.support.moves import claimed, dead, ids_of, rows_of, scheduled, settled, started
from tests.support.operators import operator
from tests.support.outbox import courier_of, cut, subscribed, write
from tests.support.recovery import Beat, course, held, no_step_for, transient

pytestmark = pytest.mark.django_db

LONG_AGO = timezone.now() - timedelta(minutes=5)


def write_sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)


def overdue_in(*lanes_: str) -> None:
    for lane in lanes_:
        scheduled(f"in {lane}", lane=lane, delay=0)
    write_sql("UPDATE punctual_task SET due_at = due_at - interval '1 min' WHERE due_at IS NOT NULL")


def test_lanes_go_on_one_after_the_other_the_most_urgent_first():
    overdue_in("low", "default", "high", "critical")
    beat = Beat()

    recover(course(beat=beat))

    assert [lane for lane, _ in beat.ran] == ["critical", "high", "default"]
    assert [len(others) for _, others in beat.ran] == [5, 4, 3]  # of six lanes
    assert held() == set()
    assert row(rows_of("in low")[0].id).status == "INIT"  # it is due, and nobody holds it any more


def test_it_ends_with_the_figures_of_the_standard_and_a_report():
    transient("a", "b")
    dead("c")
    beat = Beat()

    done = recover(course(beat=beat, began_at=LONG_AGO))

    shards = ShardLease.objects.count()
    result = {"incident": "INC-1", "resumed": shards, "replayed": 0, "dlqMoved": 2, "status": "RECOVERY_COMPLETED"}
    assert as_result(done) == result
    page = as_page(done)
    assert page.endswith(f"```json\n{json.dumps(result)}\n```")
    assert "| freeze | " in page and "3 min, **missed**" in page  # the incident began five minutes before
    assert [step for step in STEPS[Grade.P1] if f"| {step} | -" in page] == []
    [campaign] = Campaign.objects.all()
    assert (campaign.total, campaign.cap, campaign.kind) == (2, 5_000, "replay")


def test_the_figures_are_metrics_and_each_step_is_in_the_audit_trail():
    assert read().values["recovery_running"] == {(): 0.0}
    transient("a")
    one = course(beat=Beat())
    assert read().values["recovery_running"] == {(): 1.0}

    recover(one)

    values = read().values
    assert values["recovery_running"] == {(): 0.0}
    assert values["recovery_moved_letters"] == {(): 1.0}
    assert values["recovery_resumed_shards"] == {(): float(ShardLease.objects.count())}
    entries = AuditEntry.objects.filter(verb="recover").order_by("id")
    assert [entry.outcome for entry in entries] == ["started", *STEPS[Grade.P1], "completed"]
    assert {entry.subject for entry in entries} == {"incident INC-1"}


def test_what_can_wait_is_held_until_the_end_and_says_why():
    [task] = scheduled("in low", lane="low", delay=0)
    one = course(grade="P2")
    with pytest.raises(ZeroDivisionError):
        one.say = lambda words: 1 / 0 if words.startswith("reap") else None
        recover(one)

    assert held() == {"low", "backfill", "*"}
    assert "by the recovery from incident INC-1" in why_task(row(task)).words
    with pytest.raises(RetryLimited, match="Incident INC-1 is being recovered from"):
        refuse_backfills([1], "default")


def test_what_a_person_has_paused_stays_so():
    lanes.pause("low", reason="the warehouse is down", by="ana")
    lanes.pause("critical", reason="it is the critical one", by="ana")

    done = recover(course(beat=Beat()))

    assert sorted(LanePause.objects.values_list("lane", flat=True)) == ["critical", "low"]
    assert "Somebody has paused critical" in done.steps["resume"]["words"]


class Killed(BaseException):
    """Nothing catches this."""


def test_killed_at_every_point_of_its_way_it_does_each_step_once():
    """A step is noted in the transaction in which it was done, so a run goes on with the one after it."""
    transient("a")
    beat, kills = Beat(), 0
    for step in STEPS[Grade.P1]:
        for sign in (f"{step}:", "  "):  # before it, and after
            one = course(beat=beat)
            one.say = lambda words, sign=sign: killed() if words.startswith(sign) and "  lane" not in words else None
            with pytest.raises(Killed):
                recover(one)
            kills += 1
            assert (step in one.recovery.steps and "done_at" in one.recovery.steps[step]) is (sign == "  ")

    done = recover(course(beat=beat))

    assert done.finished_at is not None and done.runs == kills + 1 == 19
    assert [done.steps[step]["run"] for step in STEPS[Grade.P1]] == list(range(2, 19, 2))
    assert (Campaign.objects.count(), done.letters_moved, held()) == (1, 1, set())
    outcomes = AuditEntry.objects.filter(verb="recover").exclude(outcome="resumed").order_by("id")
    assert [one.outcome for one in outcomes] == ["started", *STEPS[Grade.P1], "completed"]


def killed() -> None:
    raise Killed


def test_what_a_recovery_holds_that_nobody_goes_on_with_is_let_go_an_hour_after_its_last_step():
    one = course(grade="P2")
    one.say = lambda words: killed() if words.startswith("reap") else None
    with pytest.raises(Killed):
        recover(one)
    backfill, low = "backfill", "low"
    lanes.pause(low, reason="a fire", by="olga")
    no_step_for(59)
    assert unfreeze() == "0 let go"
    one.say = lambda words: killed() if words.startswith("doctor") else None
    with pytest.raises(Killed):
        recover(one)  # it does a step, and so it holds for another hour
    no_step_for(59)
    assert unfreeze() == "0 let go"
    assert held() == {low, backfill, "*"}
    with pytest.raises(RetryLimited):
        refuse_backfills([1], "default")

    no_step_for(2)
    assert unfreeze() == "1 let go"

    assert held() == set()
    refuse_backfills([1], "default")
    assert LanePause.objects.filter(lane=low).exists()  # a person's, who has to end it
    entry = AuditEntry.objects.filter(verb="recover").latest("id")
    assert (entry.actor, entry.outcome, entry.detail) == ("punctual", "let go", {"lanes": [backfill, low]})
    assert entry.reason == "it has done no step for 61 minutes"
    assert "UTC: it has done no step for 61 minutes." in as_page(Recovery.objects.get())
    done = recover(course())  # it goes on all the same
    assert done.finished_at is not None
    assert unfreeze() == "0 let go"


def test_how_long_a_recovery_holds_is_said_when_it_begins_or_goes_on():
    with pytest.raises(InvalidTask, match="hold=0 is not possible; give 1 to 1440 minutes"):
        begin("INC-1", operator(), hold_minutes=0)
    assert not Recovery.objects.exists()

    def kill_before_reap(**options: object) -> None:
        one = course(**options)
        one.say = lambda words: killed() if words.startswith("reap") else None
        with pytest.raises(Killed):
            recover(one)

    kill_before_reap(grade="P2", hold_minutes=5)
    assert "a beat lets go 5 min after the last step" in Recovery.objects.get().steps["freeze"]["words"]
    kill_before_reap(hold_minutes=10)  # the step was not begun, so this is no step
    no_step_for(9)
    assert unfreeze() == "0 let go"
    kill_before_reap()
    no_step_for(2)
    assert unfreeze() == "1 let go"


def test_killed_between_two_lanes_it_goes_on_with_the_second():
    beat = Beat()
    one = course(beat=beat)

    def say(words: str) -> None:
        if words.startswith("  lane high"):
            raise Killed

    one.say = say
    with pytest.raises(Killed):
        recover(one)
    assert held() == {"default", "deferred", "low", "backfill", "*"}
    said = []
    again = course(beat=beat)
    again.say = said.append

    recover(again)

    assert [words.split()[1] for words in said if words.startswith("  lane")] == ["default:", "deferred:"]


def test_a_second_run_of_the_same_incident_is_refused_once_it_is_done():
    recover(course(beat=Beat()))

    with pytest.raises(InvalidTask, match="incident 'INC-1' was recovered from at"):
        begin("INC-1", operator())


def test_from_a_step_on_it_is_done_again():
    beat = Beat()
    recover(course(beat=beat))
    transient("late")

    done = recover(course(beat=beat, from_step=Step.LETTERS))

    assert done.letters_moved == 1
    assert {name for name, told in done.steps.items() if told["run"] == 2} == {"letters", "compensate", "unfreeze"}


def test_a_new_one_that_begins_with_a_later_step_skips_those_before():
    done = recover(course(from_step=Step.LETTERS))

    assert {name for name, told in done.steps.items() if told.get("skipped")} == {*STEPS[Grade.P1][:6]}
    assert "| takeover | - | - | - | - | skipped" in as_page(done)


def test_a_run_that_was_overtaken_does_nothing_more():
    transient("a")
    old = course(beat=Beat())
    begin("INC-1", operator())

    with pytest.raises(Overtaken, match="run 2 of the recovery from 'INC-1' has begun"):
        recover(old)
    assert (held(), Campaign.objects.count()) == (set(), 0)


def test_without_a_beat_it_says_what_is_missing_and_goes_on_when_one_is_there():
    with pytest.raises(StepFailed, match=r"no beat is alive\. Start beats and workers, then run this again"):
        recover(course())
    assert "low" in held()

    assert recover(course(beat=Beat())).finished_at is not None


def test_where_nothing_may_be_dispatched_it_says_so_at_once_and_holds_nothing():
    look()
    quarantine.enter(operator("it may be a copy."))

    for grade in Grade:
        with pytest.raises(StepFailed, match=r"in quarantine, so nothing is dispatched: it may be a copy\. Say first"):
            recover(course(f"INC {grade}", grade=grade))
    assert held() == set()

    quarantine.resume(Answer(Choice.RUN), operator())
    site.stand_by(operator())
    with pytest.raises(StepFailed, match="All sites stand by"):
        recover(course("INC P1"))
    assert recover(course("INC P1", from_step=Step.UNFREEZE)).finished_at is not None


def test_lanes_are_not_waited_for_while_somebody_is_asked_about_what_is_overdue():
    look()
    overdue_in("high", "default")
    Installation.objects.update(held_before=timezone.now(), held_lanes=["high"])

    done = recover(course(beat=Beat()))

    assert done.steps["resume"]["lanes"]["high"]["overdue"] == 0
    assert "What was overdue in high is held until somebody decides" in done.steps["resume"]["words"]


def test_who_lets_go_under_another_name_is_told_whose_lanes_are_held():
    with pytest.raises(StepFailed):
        recover(course("INC-1"))

    done = recover(course("INC-l", from_step=Step.UNFREEZE))

    assert "! The recovery from 'INC-1' still holds some" in done.steps["unfreeze"]["words"]
    assert "low" in held()


def test_the_leases_of_dead_beats_end_at_once():
    gone, here = Beat("gone"), Beat("here")
    gone.leases.run_once()
    write_sql("UPDATE punctual_shard_lease SET lease_until = now() + interval '1 hour'")
    write_sql("UPDATE punctual_node SET seen_at = now() - interval '1 hour' WHERE node_id = %s", gone.node_id)

    done = recover(course(beat=here))

    assert set(ShardLease.objects.values_list("holder", flat=True)) == {here.node_id}
    assert done.steps["takeover"]["dead"] == ["gone"]
    assert done.steps["takeover"]["freed"] == ShardLease.objects.count()


def test_what_dead_workers_had_is_due_again():
    batch = claimed("a", "b")
    expire_lease(str(batch))

    done = recover(course(grade="P2"))

    assert {task.status for key in "ab" for task in rows_of(key)} == {"INIT"}
    assert (done.steps["reap"]["batches"], done.steps["reap"]["tasks"]) == (1, 2)


def test_a_broken_rule_is_told():
    ids_of(started("a"))
    write_sql("UPDATE punctual_task SET retry_count = 7")

    done = recover(course(grade="P2"))

    assert done.steps["doctor"]["broken"] == {"attempts": 1}
    assert "! Broken: attempts (1 row)." in as_page(done)


def test_grade_p2_leaves_out_what_only_a_standstill_needs():
    done = recover(course(grade="P2"))

    assert set(done.steps) == {"freeze", "reap", "doctor", "letters", "compensate", "unfreeze"}


# What subscribers get again.


@pytest.fixture
def received():
    with subscribed() as received:
        yield received


@pytest.fixture
def subscription(received) -> Subscription:
    return subscribe("test", events=["order.*"], to=ToFunction("test"))


@pytest.mark.django_db(transaction=True)
def test_subscribers_get_the_last_quarter_of_an_hour_again(received, subscription):
    write("a", "b")
    cut()
    courier_of(subscription).run_once()
    write("c")
    cut()

    done = recover(course(beat=Beat()))

    assert done.replayed == 2  # c was still to come
    courier_of(Subscription.objects.get()).run_once()
    assert received.keys == ["a", "b", "a", "b", "c"]
    assert AuditEntry.objects.filter(verb="replay", outcome="replayed").count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_that_is_behind_is_left_where_it_is_and_misses_nothing(received, subscription):
    write("a")
    cut()
    write("b")
    cut()
    since = OutboxWindow.objects.latest("no").min_at

    assert (to_replay(since), subscriptions.rewind(subscription.id, since, operator())) == ([], False)
    courier_of(subscription).run_once()
    assert received.keys == ["a", "b"]


# The command.


def command(*words: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("recover", *words, "--patience", "0", stdout=out, stderr=StringIO())
    except SystemExit as end:
        return out.getvalue(), end.code
    return out.getvalue(), 0


def test_a_dry_run_says_what_each_step_would_do_and_changes_nothing():
    transient("a")

    text, code = command("INC-1", "--dry-run")

    assert code == 0
    assert "letters     1 task would run again, as a campaign." in text
    assert "freeze      Lanes high, default, low, deferred, backfill would be held" in text
    out = StringIO()
    call_command("doctor", stdout=out)
    rules = out.getvalue().partition(",")[0]  # both count the same
    assert f"doctor      {rules}; all of them hold." in text
    assert "3 more (place, past, sieve) look at what is over: --past" in out.getvalue()
    assert (Recovery.objects.count(), held(), Campaign.objects.count()) == (0, set(), 0)
    assert not AuditEntry.objects.exclude(verb="tag").exists()
    assert list(json.loads(command("INC-1", "--dry-run", "--json", "--from", "letters")[0])["steps"]) == [
        "letters",
        "compensate",
        "unfreeze",
    ]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["INC-2", "--grade", "P2", "--from", "replay"], "a recovery of grade P2 has no step 'replay'"),
        (["INC-1", "--grade", "P2"], "incident 'INC-1' is being recovered from as P1"),
        (["INC-2", "--began", "2090-01-01"], "can't have begun at 2090-01-01"),
    ],
)
def test_a_dry_run_refuses_what_the_real_one_would(words, says):
    begin("INC-1", operator())

    with pytest.raises(CommandError, match=says):
        command(*words, "--dry-run")


def test_the_command_prints_the_report_or_json():
    told = json.loads(command("INC-1", "--grade", "P2", "--json", "--by", "ana", "--reason", "the rack burnt")[0])
    assert (told["status"], told["grade"], told["by"]) == ("RECOVERY_COMPLETED", "P2", "ana")
    assert [one["step"] for one in told["steps"]] == [*STEPS[Grade.P2]]

    page, _ = command("INC-1", "--report")
    assert page.startswith("# Recovery from INC-1\n") and "ana began the recovery at" in page
    assert "INC-1                    P2" in command()[0]
    assert json.loads(command("--json")[0])["recoveries"] == [told]


@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        (["INC-1", "--grade", "P2"], "incident 'INC-1' is being recovered from as P1", 2),
        (["INC-2", "--grade", "P2", "--from", "replay"], "a recovery of grade P2 has no step 'replay'", 2),
        (["INC-2", "--began", "2090-01-01"], "can't have begun at 2090-01-01", 2),
        (["x" * 101], "incident", 2),
        (["INC-3", "--report"], "There was no recovery from 'INC-3'", 2),
        (["INC-2"], "Start beats and workers", 1),
    ],
)
def test_what_makes_no_sense_is_refused(words, says, code):
    begin("INC-1", operator())

    with pytest.raises(CommandError, match=says) as refused:
        command(*words)
    assert refused.value.returncode == code


def test_a_report_can_be_pasted_anywhere():
    begin("INC|1 <b>", operator("it `burnt`\nfor | hours"))

    page = as_page(Recovery.objects.get())

    assert "# Recovery from INC\\|1 &lt;b>" in page
    assert "it 'burnt' for \\| hours" in page


def test_settled_work_is_left_alone():
    batch = started("a")
    settled(batch)
    before = row(ids_of(batch)[0])

    recover(course(beat=Beat()))

    after = row(before.id)
    assert (after.status, after.updated_at) == (before.status, before.updated_at)


# ---- what it has cost ----


def seen_at(ago: timedelta, kind: str = "BEAT") -> datetime:
    """A beat that was last heard of so long ago."""
    at = timezone.now() - ago
    Node.objects.create(node_id=nodes.new_node_id(), kind=kind, name="gone", seen_at=at)
    return at


def test_the_rto_counts_from_the_last_sign_of_life_of_a_beat():
    last = seen_at(timedelta(minutes=9))

    told = as_dict(recover(course(beat=Beat())))

    assert (told["trouble_sign"], told["trouble_since"]) == ("beat", last.isoformat())
    assert told["rto_seconds"] >= 540 > told["seconds"]


def test_the_rto_counts_from_the_first_task_that_nobody_started_unless_its_lane_is_paused():
    overdue_in("high", "low")
    write_sql("UPDATE punctual_task SET entry_at = NULL, wait_at = due_at")
    write_sql("UPDATE punctual_task SET wait_at = wait_at - interval '1 hour' WHERE lane = 'low'")
    LanePause.objects.create(lane="low", reason="a test", paused_by="olga")
    seen_at(timedelta(0))

    told = as_dict(course().recovery)

    assert (told["trouble_sign"], told["rto_seconds"]) == ("task", None)
    assert timedelta(minutes=1) <= timezone.now() - datetime.fromisoformat(told["trouble_since"]) < timedelta(minutes=9)


def test_without_any_sign_the_rto_counts_from_the_incident_or_else_from_the_command():
    given, none = course("A", began_at=LONG_AGO).recovery, course("B").recovery

    assert as_dict(given)["trouble_sign"] == "incident" and as_dict(given)["trouble_since"] == LONG_AGO.isoformat()
    assert as_dict(none)["trouble_sign"] == "command"
    assert "RPO: 0 s. The server was neither recovered nor promoted in this trouble" in as_page(none)


def test_the_rpo_is_what_was_committed_after_the_newest_commit_that_the_server_kept():
    claimed("a")
    now = timezone.now()
    begin_ = now - timedelta(minutes=5)
    kept, later = begin_ - timedelta(seconds=7), begin_ + timedelta(seconds=40)

    def lost(replayed_at: datetime | None, worked_at: datetime) -> float:
        write_sql("UPDATE punctual_batch SET claimed_at = %s", worked_at)
        return what_may_be_lost(replayed_at, begin_, now)["rpo_seconds"]

    assert lost(None, now) == 0.0
    assert lost(kept, now) == 7.0
    assert lost(kept, begin_ - timedelta(seconds=1)) == 0.0  # recovered before, and worked since
    assert lost(later, later + timedelta(seconds=3)) == 3.0


def test_resumed_counts_the_shards_that_no_live_beat_had():
    beat = Beat()
    beat.look()
    kept = ShardLease.objects.filter(holder=beat.node_id).count()
    write_sql("UPDATE punctual_shard_lease SET holder = NULL, lease_until = now() WHERE shard < 5")

    done = recover(course(beat=beat))

    assert (kept, done.resumed) == (16, 5)
    assert as_dict(done)["lanes_resumed"] == ["high", "default", "deferred", "backfill", "low"]

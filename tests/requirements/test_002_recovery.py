"""002 §12, §13, §15 and §17: who takes over and when, what a recovery does, and by which limits it is judged."""

from collections import Counter
from datetime import timedelta

import pytest

from django_punctual import ToFunction, schedule_many, subscribe
from tasks_app.conf import conf
from tasks_app.core.errors import RetryLimited
from tasks_app.core.lanes import LANES
from tasks_app.core.recovery import STEPS, Grade
from tasks_app.drills.judging import Asked, Done, Evidence, Limits, judge
from tasks_app.drills.kinds import DRILLS
from tasks_app.engine import nodes
from tasks_app.engine.beat.batch_size import BatchSizes, size_for
from tasks_app.engine.beat.chores import CHORES
from tasks_app.engine.beat.leases import Leases
from tasks_app.engine.operations.recovery.course import recover
from tasks_app.engine.operations.recovery.report import as_page, as_result, step_rows
from tasks_app.engine.operations.recovery.steps import replay_since
from tasks_app.lifecycle.recovery import timed
from tasks_app.lifecycle.safeguards.curbs import refuse_backfills
from tasks_app.models import (
    Campaign,
    DlqEntry,
    Node,
    OutboxEvent,
    OutboxWindow,
    ScheduleTask,
    ShardLease,
    Subscription,
    TaskBatch,
)
from tasks_app.sql import execute
from tests.support.engine import claim_due, expire_lease, make_due
from tests.support.jobs import now
from tests.support.marks import commits
from tests.support.moves import claimed, dead, rows_of, scheduled, started
from tests.support.outbox import courier_of, cut, subscribed, write
from tests.support.recovery import Beat, course, held, transient

pytestmark = pytest.mark.django_db

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


# ---- §12: the path and its limits


def test_s12_3_minutes_to_freeze_10_to_take_over_and_30_until_all_is_done():
    done = recover(course(beat=Beat()))

    assert {row.name: row.limit_minutes for row in step_rows(done)} == {
        "freeze": 3,
        "takeover": 10,
        "resume": 10,
        "reap": 30,
        "doctor": 30,
        "replay": 30,
        "letters": 30,
        "compensate": 30,
        "unfreeze": 30,
    }


@pytest.mark.parametrize(("step", "minutes"), [("freeze", 3), ("takeover", 10), ("unfreeze", 30)])
def test_s12_a_step_is_in_time_up_to_the_last_second_of_its_limit(step, minutes):
    row = course().recovery
    at = row.began_at + minutes * MINUTE

    assert timed(row, step, at, at, "")["met"]
    assert not timed(row, step, at, at + SECOND, "")["met"]


def test_s12_the_report_of_a_recovery_says_which_limits_were_missed():
    done = recover(course(beat=Beat(), began_at=now() - 11 * MINUTE))

    assert [row.name for row in step_rows(done) if not row.met] == ["freeze", "takeover", "resume"]
    assert "- Limits: missed by freeze, takeover, resume" in as_page(done)


def test_s12_an_rto_of_30_minutes_is_met_and_a_second_more_is_not():
    """By the judge of the drills, whose own limits are far narrower."""
    limits = Limits(rto=1_800, rpo=60)

    assert judge(evidence(away=1_800), limits).met
    [missed] = judge(evidence(away=1_801), limits).missed
    assert missed.startswith("lane default was back after 1801 s, and the limit is 1800 s")


def test_s12_an_rpo_of_1_minute_is_met_and_a_second_more_is_not():
    limits = Limits(rto=1_800, rpo=60)

    assert judge(evidence(rpo=60), limits).met
    assert judge(evidence(rpo=61), limits).missed == [
        "what was committed 61 s before is lost, and the limit is 60 s",
    ]


def evidence(away: float = 0.0, rpo: float = 0.0) -> Evidence:
    """One task was due at the damage and began so many seconds later."""
    return Evidence(
        mark=0.0,
        ended=10.0,
        asked={"k": Asked("default", 0.0)},
        done=[Done("k", away, away)],
        statuses={"k": "SUCCESS"},
        effects={"k": 1},
        calls={"k": 1},
        rpo=rpo,
    )


def test_s12_every_drill_is_held_to_an_rto_of_30_minutes_and_an_rpo_of_1_minute_at_most():
    """Narrower: the slowest, a restore from a backup, has 5 minutes and 1 s."""
    assert {name: (one.limits.rto, one.limits.rpo) for name, one in DRILLS.items()} == {
        "dispatcher": (10, 0),
        "worker": (45, 0),
        "broker": (15, 0),
        "database": (15, 0),
        "failover": (15, 0),
        "site": (20, 0),
        "restore": (300, 1),
        "restore-sync": (300, 0),
    }
    assert max(one.limits.rto for one in DRILLS.values()) <= 1_800
    assert max(one.limits.rpo for one in DRILLS.values()) <= 60


def test_s12_a_backup_that_is_a_minute_behind_is_trouble():
    """Commits that no backup has are lost with the database: their age is the RPO."""
    assert conf().BACKUP_BEHIND_SECONDS == 60.0


def test_s12_p1_holds_all_but_core_tasks_and_p2_what_can_wait():
    """The document freezes low priority at once; of grade P1, the lanes before it wait for the takeover as well."""
    for grade, lanes in ((Grade.P1, set(LANES) - {"critical"}), (Grade.P2, {"low", "backfill"})):
        one = course(f"INC {grade}", grade=grade)
        one.say = stop_at("takeover" if grade == Grade.P1 else "reap")
        with pytest.raises(ZeroDivisionError):
            recover(one)

        assert held() == {*lanes, "*"}
        with pytest.raises(RetryLimited):
            refuse_backfills([1], "default")
        recover(course(f"INC {grade}", from_step="unfreeze"))


def stop_at(step: str):
    return lambda words: 1 / 0 if words.startswith(step) else None


def test_s12_core_tasks_go_on_first_and_outbox_and_dlq_come_last():
    assert STEPS[Grade.P1] == (
        "freeze",
        "takeover",
        "resume",
        "reap",
        "doctor",
        "replay",
        "letters",
        "compensate",
        "unfreeze",
    )
    beat = Beat()
    for lane in ("default", "high", "critical"):
        scheduled(f"in {lane}", lane=lane, delay=0)
    ScheduleTask.objects.update(due_at=now() - MINUTE)

    recover(course(beat=beat))

    assert [lane for lane, _ in beat.ran] == ["critical", "high", "default"]


# ---- §15: RecoveryExecutor


def test_s15_recover_returns_what_was_resumed_replayed_and_moved():
    transient("a", "b")

    assert as_result(recover(course("INC-7", Beat()))) == {
        "incident": "INC-7",
        "resumed": ShardLease.objects.count(),
        "replayed": 0,
        "dlqMoved": 2,
        "status": "RECOVERY_COMPLETED",
    }
    assert ShardLease.objects.count() == conf().SHARDS == 16


@commits
def test_s15_recover_replays_the_events_of_the_15_minutes_before_it():
    with subscribed() as received:
        subscription = subscribe("test", events=["order.*"], to=ToFunction("test"))
        for key in ("16 minutes", "14 minutes"):
            write(key)
            cut()
        courier_of(subscription).run_once()
        for window, minutes in zip(OutboxWindow.objects.order_by("-no")[:2], (14, 16), strict=True):
            at = now() - minutes * MINUTE
            OutboxEvent.objects.filter(id=window.max_id).update(created_at=at)
            OutboxWindow.objects.filter(no=window.no).update(min_at=at, max_at=at)
        Subscription.objects.update(since=None)
        done = recover(course(beat=Beat()))
        courier_of(Subscription.objects.get()).run_once()

    assert replay_since(course(from_step="unfreeze")) == done.started_at - 15 * MINUTE
    assert (done.replayed, received.keys) == (1, ["16 minutes", "14 minutes", "14 minutes"])


def test_s15_recover_moves_what_is_tagged_transient_error_and_nothing_else():
    tagged = transient("a")
    other = dead("b")

    recover(course(grade="P2"))

    [campaign] = Campaign.objects.all()
    assert (campaign.kind, campaign.total, campaign.cap, campaign.options["lane"]) == ("replay", 1, 5_000, "backfill")
    assert DlqEntry.objects.filter(task_id__in=[*tagged, *other]).count() == 2


def test_s15_recover_moves_5000_dead_letters_at_most():
    schedule_many("T_QUIET", [{"key": n} for n in range(5_001)], delay=3_600)
    execute("UPDATE punctual_task SET status = 'DEAD', due_at = NULL, attempt = 6, retry_count = 6")
    execute(
        "INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg, traceback, tags)"
        " SELECT id, tenant, task_type, 'TIMEOUT', '', '', '{transient_error}' FROM punctual_task"
    )

    done = recover(course(grade="P2", from_step="letters"))

    assert (done.letters_moved, Campaign.objects.get().more) == (5_000, True)


# ---- §13 and §15: LeaseDispatcher


def test_s15_a_shard_is_leased_for_8_seconds():
    before = now()
    Leases(nodes.new_node_id(), "beat", lambda names: None).run_once()
    after = now()

    for until in ShardLease.objects.values_list("lease_until", flat=True):
        assert before + 8 * SECOND <= until <= after + 8 * SECOND


def test_s13_another_beat_takes_what_a_dead_one_held_when_its_lease_has_run_out_and_not_before():
    """Two live beats share the shards: the second gets half of them without waiting for a lease."""
    dead = nodes.new_node_id()
    gone, here = (Leases(*one, lambda names: None) for one in ((dead, "gone"), (nodes.new_node_id(), "here")))
    for one in (gone, here, gone, here):
        one.run_once()
    ShardLease.objects.update(lease_until=now() + MINUTE)
    here.run_once()
    assert holders() == {"gone": 8, "here": 8}

    ShardLease.objects.filter(holder_name="gone").update(lease_until=now() - SECOND)
    Node.objects.filter(node_id=dead).update(renewed_at=now() - MINUTE, seen_at=now() - MINUTE)
    here.run_once()
    here.run_once()

    assert holders() == {"here": 16}


def holders() -> Counter:
    return Counter(ShardLease.objects.values_list("holder_name", flat=True))


def test_s15_a_batch_has_as_many_tasks_as_run_in_200_ms_and_8_of_a_type_without_figures():
    """The document takes 200 at a time, whatever they do. Here a batch is 200 ms of work, which is 200 tasks of 1 ms,
    up to 4,000 of the quickest: a slow type doesn't keep a worker for minutes, and a quick one costs less."""
    assert [size_for(us) for us in (1_000, 50, 49, 199_999, 200_000, 1e9)] == [200, 4_000, 4_000, 1, 1, 1]
    assert size_for(51) == 3_921
    scheduled(*(f"k{n}" for n in range(9)))
    sizes = BatchSizes().sizes
    assert "T_QUIET" not in sizes  # so the claim takes the size of a type that was not seen yet
    assert conf().BATCH_UNSEEN == 8


@pytest.mark.parametrize(
    ("state", "setting", "seconds"),
    [("claimed", "DISPATCH_LEASE_SECONDS", 15), ("started", "RUN_LEASE_SECONDS", 30)],
)
def test_s13_a_dead_worker_s_tasks_are_due_again_after_15_and_30_seconds(state, setting, seconds):
    """15 s after the claim if the batch has not started, else 30 s after its last heartbeat, which comes every 7 s."""
    before = now()
    batch = claimed("k") if state == "claimed" else started("k").batch_no
    after = now()

    until = TaskBatch.objects.get(batch_no=batch).lease_until
    assert before + seconds * SECOND <= until <= after + seconds * SECOND
    assert (getattr(conf(), setting), conf().HEARTBEAT_SECONDS) == (seconds, 7)
    expire_lease(str(batch))
    recover(course(grade="P2"))
    assert {one.status for one in rows_of("k")} <= {"INIT", "FAIL"}


def test_s13_two_dispatchers_never_have_the_same_task():
    """Races of two beats, with one transaction open while the other claims, are in `tests/race/test_claim_race.py`."""
    scheduled(*(f"k{n}" for n in range(20)))
    make_due(*ScheduleTask.objects.values_list("id", flat=True))

    given = [
        one
        for batch in claim_due(size=7) + claim_due(size=7)
        for one in TaskBatch.objects.get(batch_no=batch.batch_no).ids
    ]

    assert sorted(given) == sorted(set(given)) == sorted(ScheduleTask.objects.values_list("id", flat=True))


def test_s17_no_drill_runs_by_itself():
    """Default changes with the table of defaults: an operator's timer runs them every month (`docs/drills.md`). Each
    breaks a stack of its own, never the installation's."""
    assert "safeguard" in (names := {chore.name for chore in CHORES})
    assert not [name for name in names if "drill" in name]

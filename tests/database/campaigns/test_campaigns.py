"""Campaigns: what they choose, how far they go, at which rate, and what came of it."""

from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from django_punctual import InvalidTask, cancel, cancel_tasks, move_tasks, schedule, schedule_many
from tasks_app.core.errors import NothingToDo
from tasks_app.engine.beat.campaigns import run_campaigns, run_once
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.operations.campaigns import undo_operation
from tasks_app.engine.watch.browse import Filter
from tasks_app.lifecycle.campaigns import steps, verbs
from tasks_app.lifecycle.campaigns.begin import start
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.past import move_batches, move_strays
from tasks_app.models import AuditEntry, Campaign, CampaignChunk, OutboxEvent, PastTask, ScheduleTask, TaskBatch
from tests.support.audit import deeds
from tests.support.campaigns import BEAT, begun, begun_for, carried_out, measured
from tests.support.engine import claim_due, run_due
from tests.support.marks import commits
from tests.support.moves import MONDAY, TUESDAY, WEDNESDAY, dead, scheduled, state
from tests.support.operators import operator

pytestmark = commits


@pytest.fixture
def small_chunks(monkeypatch):
    """Of seven tasks, so that few tasks make many."""
    for module in ("begin", "steps"):
        monkeypatch.setattr(f"tasks_app.lifecycle.campaigns.{module}.CHUNK", 7)


def many_dead(count: int) -> list[int]:
    schedule_many("T_QUIET", [{"key": f"dead-{n}"} for n in range(count)], payload={"do": "die"})
    run_due()
    return list(ScheduleTask.objects.filter(status="DEAD").order_by("id").values_list("id", flat=True))


def due(ids: list[int]) -> list[datetime]:
    times = dict(ScheduleTask.objects.filter(id__in=ids).values_list("id", "due_at"))
    return [times[id_] for id_ in ids]


def mended() -> None:
    """What made the tasks die is put right."""
    ScheduleTask.objects.filter(status="INIT").update(payload={})


def test_everything_that_matches_is_chosen_once_and_then_done_step_by_step(small_chunks):
    ids = many_dead(30)
    scheduled("other", at=MONDAY)

    campaign = begun_for(Verb.RETRY, Filter(state="DEAD"))
    late = dead("died later")
    before = [chunk.ids for chunk in campaign.chunks.order_by("number")]
    carried_out(campaign)

    assert sorted(id_ for chunk in before for id_ in chunk) == ids
    assert [len(chunk) for chunk in before] == [7, 7, 7, 7, 2]
    assert (campaign.state, campaign.total, campaign.done, campaign.counts) == ("DONE", 30, 30, {"replayed": 30})
    assert {state(id_).status for id_ in ids} == {"INIT"}
    assert state(*late).status == "DEAD"
    assert deeds().filter(operation=campaign.operation, task_id__isnull=False).count() == 30


def test_the_same_operation_begins_one_campaign():
    ids, by = dead("a", "b"), operator()

    first, second = begun(Verb.REPLAY, ids, by=by), begun(Verb.REPLAY, [999], by=by)

    assert (first.id, second.total) == (second.id, 2)
    assert CampaignChunk.objects.get().ids == ids


def test_no_more_than_the_cap_is_chosen_and_the_campaign_says_so(small_chunks):
    many_dead(20)

    campaign = begun_for(Verb.RETRY, Filter(state="DEAD"), cap=10)
    exact = begun(Verb.RETRY, [1, 2, 3], cap=3)

    assert (campaign.total, campaign.more) == (10, True)
    assert (exact.total, exact.more) == (3, False)


def test_only_what_the_order_would_act_on_is_chosen():
    dead("a")
    waiting = scheduled("b", "c", at=MONDAY)

    campaign = begun_for(Verb.CANCEL, Filter(task_type="T_QUIET"))

    assert sorted(campaign.chunks.get().ids) == waiting


def test_a_search_that_takes_too_long_goes_with_what_it_found():
    pages = iter([[1, 2], [3]])

    campaign = start(Verb.REPLAY, pages, operator(), seconds=-1)

    assert (campaign.total, campaign.more) == (2, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"cap": 0}, "cap=0"),
        ({"cap": 1_000_001}, "1,000,000"),
        ({"cap": True}, "cap=True"),
        ({"rate": 0}, "rate=0"),
        ({"rate": -1.0}, "rate=-1"),
        ({"rate": float("nan")}, "rate=nan"),
        ({"lane": "fast"}, "'fast'"),
        ({"at": TUESDAY}, "only a move"),
        ({"move": {"by": timedelta(hours=1)}}, "only a move"),
    ],
)
def test_bad_input_begins_nothing(options, told):
    with pytest.raises(InvalidTask, match=told):
        begun(Verb.REPLAY, dead("a"), **options)

    assert not Campaign.objects.exists() and not deeds().exists()


def test_a_campaign_for_nothing_is_refused_and_leaves_nothing_behind():
    with pytest.raises(NothingToDo, match="No task was found"):
        begun_for(Verb.RETRY, Filter(state="DEAD"))

    assert not Campaign.objects.exists() and not deeds().exists()


def test_a_move_takes_all_to_the_new_time(small_chunks):
    ids = scheduled(*(str(n) for n in range(20)), at=MONDAY)

    campaign = carried_out(begun_for(Verb.MOVE, Filter(state="INIT"), at=TUESDAY))

    assert campaign.counts == {"moved": 20}
    assert set(ScheduleTask.objects.filter(id__in=ids).values_list("due_at", flat=True)) == {TUESDAY}
    with pytest.raises(InvalidTask, match="new time"):
        begun(Verb.MOVE, ids)


def test_a_move_by_so_much_and_one_that_is_spread_give_each_task_a_time_of_its_own(small_chunks):
    ids = scheduled("a", "b", at=MONDAY) + scheduled("c", "d", at=TUESDAY)

    carried_out(begun(Verb.MOVE, ids, move={"by": timedelta(hours=2)}))

    assert due(ids) == [one + timedelta(hours=2) for one in (MONDAY, MONDAY, TUESDAY, TUESDAY)]
    assert deeds().filter(task_id=ids[0]).get().detail == {
        "before": "INIT",
        "of": f"campaign {Campaign.objects.get().id}",
        "at": (MONDAY + timedelta(hours=2)).isoformat(),
        "was": MONDAY.isoformat(),
    }

    spread = carried_out(begun(Verb.MOVE, ids, at=TUESDAY, move={"over": timedelta(hours=4)}, rate=5.0))

    assert due(ids) == [TUESDAY + timedelta(hours=n) for n in range(4)]
    assert spread.options == {"at": TUESDAY.isoformat(), "over": 14_400.0}
    begins = timezone.now()
    carried_out(begun(Verb.MOVE, ids, move={"over": timedelta(days=300)}))
    assert begins <= due(ids)[0] <= timezone.now() and due(ids)[3] - due(ids)[0] == timedelta(days=225)


def test_an_undo_puts_back_what_a_move_left_and_nothing_that_happened_since():
    ids = scheduled("a", "b", "c", "d", at=MONDAY)
    [earlier] = scheduled("e", at=TUESDAY)
    moved = carried_out(begun(Verb.MOVE, [*ids, earlier], at=WEDNESDAY))
    move_tasks([ids[1]], TUESDAY, operator())
    cancel_tasks([ids[2]], operator())
    schedule("T_QUIET", "c", at=TUESDAY)

    undo = carried_out(undo_operation(moved.operation, operator()))

    assert undo.counts == {"put back": 3, "changed": 1, "superseded": 1}
    assert due([ids[0], ids[1], ids[3], earlier]) == [MONDAY, TUESDAY, MONDAY, TUESDAY]
    assert (undo.kind, undo.selection) == ("undo", f"what campaign {moved.id} did")
    with pytest.raises(NothingToDo, match=f"Campaign {undo.id} has undone it"):
        undo_operation(moved.operation, operator())
    with pytest.raises(NothingToDo):
        undo_operation(undo.operation, operator())


def test_what_one_tenant_had_undone_of_an_order_keeps_no_other_from_it():
    ids = [schedule("T_QUIET", "a", at=MONDAY, tenant=tenant).task_id for tenant in ("acme", "other")]
    moved = carried_out(begun(Verb.MOVE, ids, at=WEDNESDAY))
    carried_out(undo_operation(moved.operation, operator(), tenant="acme"))

    other = carried_out(undo_operation(moved.operation, operator(), tenant="other"))

    assert (other.counts, due(ids)) == ({"put back": 1}, [MONDAY, MONDAY])
    with pytest.raises(NothingToDo, match=f"Campaign {other.id} has undone it"):
        undo_operation(moved.operation, operator(), tenant="other")


def test_an_undo_that_was_cancelled_or_left_some_to_others_can_be_ordered_again():
    ids = scheduled("a", "b", at=MONDAY)
    moved = carried_out(begun(Verb.MOVE, ids, at=WEDNESDAY))

    partial = carried_out(undo_operation(moved.operation, operator(), types=["T_PLAIN", "T_QUIET"], lanes=["default"]))
    with pytest.raises(NothingToDo, match=f"Campaign {partial.id} has undone it"):
        undo_operation(moved.operation, operator())
    Campaign.objects.filter(id=partial.id).update(total=1, done=1)  # as if the other was of a lane that it had not
    under_way = undo_operation(moved.operation, operator())
    with pytest.raises(NothingToDo, match=f"Campaign {under_way.id} is undoing it"):
        undo_operation(moved.operation, operator())
    Campaign.objects.filter(id=under_way.id).update(state="CANCELLED", finished_at=timezone.now())
    assert carried_out(undo_operation(moved.operation, operator())).counts == {"changed": 2}


def test_an_undo_of_a_cancel_schedules_anew_what_waited_also_out_of_the_past():
    ids = scheduled("a", "b", at=MONDAY)
    [running] = scheduled("c")
    claim_due()
    payload = schedule("T_QUIET", "d", payload={"do": "retry", "after": 3600}, lane="low", at=MONDAY).task_id
    cancelled = carried_out(begun(Verb.CANCEL, [*ids, running, payload]))
    schedule("T_QUIET", "b", at=TUESDAY)
    ScheduleTask.objects.filter(status="CANCELLED").update(updated_at=timezone.now() - timedelta(days=1))
    move_strays(0)
    assert not ScheduleTask.objects.filter(id=ids[0]).exists()

    undo = carried_out(undo_operation(cancelled.operation, operator()))

    assert undo.counts == {"put back": 2, "superseded": 1, "changed": 1}
    rows = {row.biz_key: row for row in ScheduleTask.objects.filter(current=True)}
    assert (rows["a"].due_at, rows["b"].due_at, rows["d"].due_at) == (MONDAY, TUESDAY, MONDAY)
    assert (rows["d"].payload, rows["d"].lane) == ({"do": "retry", "after": 3600}, "low")


def test_an_undo_leaves_alone_what_was_scheduled_anew_when_it_lay_in_the_past():
    ids = scheduled("runs", "dead", "ended", "old", "waits", at=MONDAY)
    cancelled = carried_out(begun(Verb.CANCEL, ids))

    def to_the_past() -> None:
        over = ScheduleTask.objects.filter(status="CANCELLED")
        over.update(updated_at=timezone.now() - timedelta(days=1))
        move_strays(0)

    to_the_past()
    for key in ("runs", "dead", "ended"):
        schedule("T_QUIET", key, at=TUESDAY)
    ScheduleTask.objects.filter(biz_key="dead").update(status="DEAD", due_at=None)
    cancel("T_QUIET", "ended")
    to_the_past()
    PastTask.objects.filter(id=ids[3]).update(current=False)  # as the doctor leaves it
    before = {(row.id, row.status) for row in ScheduleTask.objects.all()}

    undo = carried_out(undo_operation(cancelled.operation, operator()))

    assert undo.counts == {"put back": 1, "superseded": 4}
    after = {(row.id, row.status) for row in ScheduleTask.objects.exclude(biz_key="waits")}
    assert after == before
    assert ScheduleTask.objects.get(biz_key="waits", current=True).due_at == MONDAY


def test_what_is_not_over_is_not_undone_and_what_has_passed_runs_at_once():
    ids = scheduled("a", at=timezone.now() - timedelta(hours=1))
    moved = begun(Verb.MOVE, ids, at=TUESDAY)
    with pytest.raises(InvalidTask, match="cancel what is left"):
        undo_operation(moved.operation, operator())
    carried_out(moved)

    carried_out(undo_operation(moved.operation, operator()))

    assert len(claim_due()) == 1


def test_each_task_is_looked_at_again_when_its_turn_comes():
    first, second, third = dead("a", "b", "c")
    campaign = begun(Verb.REPLAY, [first, second, third, 999_999])
    schedule("T_QUIET", "b", at=MONDAY)  # stands in its place now

    carried_out(campaign)

    assert campaign.counts == {"replayed": 2, "superseded": 1, "gone": 1}
    assert state(second).status == "DEAD"


def test_a_replay_takes_nothing_but_what_is_dead():
    failed = schedule("T_QUIET", "a", payload={"do": "retry", "after": 3600}).task_id
    run_due()

    assert "due now" not in carried_out(begun(Verb.REPLAY, [failed])).counts
    assert carried_out(begun(Verb.RETRY, [failed])).counts == {"due now": 1}


def test_a_step_that_is_rolled_back_was_never_counted_and_comes_again(small_chunks):
    ids = many_dead(10)
    campaign = begun(Verb.REPLAY, ids)

    with transaction.atomic():
        assert steps.step(BEAT).tasks == 7
        transaction.set_rollback(True)
    campaign.refresh_from_db()
    before = (campaign.done, ScheduleTask.objects.filter(status="DEAD").count())
    carried_out(campaign)

    assert before == (0, 10)
    assert (campaign.done, campaign.counts) == (10, {"replayed": 10})


# ---- rate ----


def test_a_rate_makes_small_steps_and_says_when_the_next_may_come():
    ids = many_dead(10)
    campaign = begun(Verb.REPLAY, ids, rate=10.0)

    step = steps.step(BEAT)
    campaign.refresh_from_db()

    assert (step.tasks, campaign.done) == (2, 2)
    ahead = campaign.next_at - campaign.created_at
    assert timedelta(seconds=0.2) <= ahead < timedelta(seconds=10)
    Campaign.objects.update(next_at=timezone.now() + timedelta(minutes=1), measure_at=None)
    assert steps.step(BEAT) is None
    assert 50 < steps.wait_seconds(BEAT) <= 60


def test_after_a_long_absence_of_all_beats_a_campaign_makes_up_for_no_more_than_its_slack():
    campaign = begun(Verb.REPLAY, many_dead(60), rate=5.0)
    Campaign.objects.update(next_at=timezone.now() - timedelta(hours=1))

    taken = 0
    while (step := steps.step(BEAT)) is not None:
        taken += step.tasks

    campaign.refresh_from_db()
    assert 15 <= taken < 60  # three seconds' worth, and however long this took
    assert campaign.next_at > timezone.now() - timedelta(seconds=60)


def test_the_time_of_a_pause_is_not_made_up_for():
    campaign = begun(Verb.REPLAY, many_dead(10), rate=1.0)
    verbs.pause(campaign.id, operator())
    Campaign.objects.update(next_at=timezone.now() - timedelta(hours=1))

    resumed = verbs.resume(campaign.id, operator()).campaign

    assert resumed.next_at > timezone.now() - timedelta(seconds=60)


# ---- people ----


def test_a_paused_campaign_waits_and_a_resumed_one_goes_on(small_chunks):
    ids = many_dead(20)
    campaign = begun(Verb.REPLAY, ids)
    steps.step(BEAT)

    verbs.pause(campaign.id, operator("wait"))
    held = steps.step(BEAT)
    verbs.resume(campaign.id, operator("go on"))
    carried_out(campaign)

    assert held is None
    assert (campaign.state, campaign.counts) == ("DONE", {"replayed": 20})
    told = AuditEntry.objects.filter(subject=f"campaign {campaign.id}").order_by("id")
    assert list(told.values_list("verb", "outcome")) == [
        ("campaign", "started"),
        ("pause", "paused"),
        ("resume", "running"),
    ]


def test_a_cancelled_campaign_leaves_the_rest_alone(small_chunks):
    ids = many_dead(20)
    campaign = begun(Verb.REPLAY, ids)
    steps.step(BEAT)

    verbs.cancel(campaign.id, operator())
    carried_out(campaign)

    assert (campaign.state, campaign.done) == ("CANCELLED", 7)
    assert campaign.finished_at is not None
    assert [state(id_).status for id_ in ids] == ["INIT"] * 7 + ["DEAD"] * 13


@pytest.mark.parametrize("verb", [verbs.pause, verbs.resume, verbs.cancel])
def test_what_is_done_stays_done(verb):
    campaign = carried_out(begun(Verb.REPLAY, dead("a")))

    assert verb(campaign.id, operator()) == (campaign, False)
    campaign.refresh_from_db()
    assert campaign.state == "DONE"


def test_asked_twice_it_is_changed_and_noted_once():
    campaign = begun(Verb.REPLAY, dead("a"))

    answers = [verbs.pause(campaign.id, operator()).changed for _ in range(2)]

    assert answers == [True, False]
    assert AuditEntry.objects.filter(subject=f"campaign {campaign.id}", verb="pause").count() == 1


def test_its_beginning_and_its_end_are_told_once(small_chunks):
    many_dead(10)
    done = carried_out(begun_for(Verb.REPLAY, Filter(state="DEAD", tenant="default")))
    cancelled = begun(Verb.CANCEL, [1, 2])
    for _ in range(2):
        verbs.cancel(cancelled.id, operator())

    rows = OutboxEvent.objects.filter(event__startswith="campaign.").order_by("id")
    assert [(row.event, row.tenant, row.payloads) for row in rows] == [
        ("campaign.started", "default", [{"campaign": done.id, "kind": "replay", "total": 10, "by": "olga"}]),
        (
            "campaign.finished",
            "default",
            [{"campaign": done.id, "kind": "replay", "state": "DONE", "counts": {"replayed": 10}}],
        ),
        ("campaign.started", "internal", [{"campaign": cancelled.id, "kind": "cancel", "total": 2, "by": "olga"}]),
        (
            "campaign.finished",
            "internal",
            [{"campaign": cancelled.id, "kind": "cancel", "state": "CANCELLED", "counts": {}}],
        ),
    ]


# ---- what came of it ----


def test_the_result_says_what_became_of_what_was_released():
    ids = many_dead(4)
    campaign = carried_out(begun(Verb.REPLAY, ids))
    assert campaign.waiting == 4
    lucky, unlucky, unwanted, late = ids
    ScheduleTask.objects.filter(id=lucky).update(payload={})
    ScheduleTask.objects.filter(id=late).update(due_at=MONDAY)
    cancel("T_QUIET", ScheduleTask.objects.get(id=unwanted).biz_key, reason="no")
    run_due()

    measured(campaign)
    first = (campaign.succeeded, campaign.died, campaign.otherwise, campaign.waiting)
    ScheduleTask.objects.filter(id=late).update(due_at=timezone.now(), payload={})
    run_due()
    measured(campaign)

    assert first == (1, 1, 1, 1)
    assert (campaign.succeeded, campaign.died, campaign.otherwise, campaign.waiting) == (2, 1, 1, 0)
    assert campaign.measure_at is None
    assert state(unlucky).status == "DEAD"


def test_what_has_left_for_the_past_is_found_there():
    ids = many_dead(3)
    campaign = carried_out(begun(Verb.REPLAY, ids))
    mended()
    run_due()
    Campaign.objects.update(created_at=timezone.now() - timedelta(days=2))
    ScheduleTask.objects.update(updated_at=timezone.now() - timedelta(days=1))
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(days=1))
    assert move_batches().tasks == 3

    assert measured(campaign).succeeded == 3


# ---- lanes ----


def test_released_tasks_wait_in_the_lane_of_the_campaign_and_get_their_own_back():
    once, still = dead("once", "still")
    rolling = schedule("T_QUIET", "rolling", repeat_after=3600, payload={"do": "retry", "after": 3600}).task_id
    run_due()
    ScheduleTask.objects.filter(id__in=[once, rolling]).update(lane="high", payload={})
    campaign = carried_out(begun(Verb.RETRY, [once, still, rolling]))
    lanes = set(ScheduleTask.objects.values_list("lane", flat=True))
    ScheduleTask.objects.filter(id=still).update(due_at=MONDAY)
    run_due()

    measured(campaign)

    assert lanes == {"backfill"}
    rows = ScheduleTask.objects.in_bulk([once, still, rolling])
    assert [rows[id_].lane for id_ in (once, still, rolling)] == ["high", "backfill", "high"]
    assert rows[rolling].due_at is not None
    assert (campaign.succeeded, campaign.waiting) == (2, 1)


def test_a_task_that_failed_before_waits_there_too():
    failed = schedule("T_QUIET", "a", payload={"do": "retry", "after": 3600}).task_id
    run_due()

    carried_out(begun(Verb.RETRY, [failed], lane="low"))

    assert ScheduleTask.objects.get(id=failed).lane == "low"


def test_told_so_each_stays_in_its_own_lane():
    [task] = dead("a")
    ScheduleTask.objects.update(lane="high")

    carried_out(begun(Verb.REPLAY, [task], lane="own"))

    assert ScheduleTask.objects.get().lane == "high"


# ---- beats ----


def test_a_beat_leaves_a_campaign_alone_that_another_one_works_on_until_that_is_gone(small_chunks):
    campaign = begun(Verb.REPLAY, many_dead(20))
    steps.step("one")

    assert steps.step("two") is None and steps.wait_seconds("two") is None
    Campaign.objects.update(held_until=timezone.now() - timedelta(seconds=1))  # it was killed
    assert steps.step("two").tasks == 7

    steps.release("two")
    assert steps.step("one").tasks == 6
    campaign.refresh_from_db()
    assert (campaign.state, campaign.counts) == ("DONE", {"replayed": 20})


def test_a_run_goes_on_until_nothing_is_left(small_chunks):
    ids = scheduled(*(str(n) for n in range(20)), at=MONDAY)
    campaign = begun(Verb.CANCEL, ids)

    assert run_campaigns(seconds=0.0) == "0 steps, 0 tasks"
    assert run_campaigns() == "3 steps, 20 tasks"

    campaign.refresh_from_db()
    assert campaign.counts == {"cancelled": 20}


def test_a_step_that_fails_is_told_and_tried_again_later(small_chunks, caplog):
    campaign = begun(Verb.REPLAY, many_dead(3))
    CampaignChunk.objects.update(number=5)  # its tasks can't be found

    assert run_once(BEAT) is None
    campaign.refresh_from_db()
    assert (campaign.failures, campaign.done) == (1, 0) and campaign.error
    assert campaign.next_at > timezone.now() - timedelta(seconds=60)
    assert "campaign.step_failed" in caplog.text

    CampaignChunk.objects.update(number=0)
    carried_out(campaign)
    assert (campaign.state, campaign.failures, campaign.error) == ("DONE", 0, "")


def test_what_is_over_for_long_is_pruned_with_its_tasks():
    tasks = dead("a", "b", "c")
    old, young = (carried_out(begun(Verb.REPLAY, [task])) for task in tasks[:2])
    running = begun(Verb.REPLAY, tasks[2:])
    Campaign.objects.filter(id=old.id).update(finished_at=timezone.now() - timedelta(days=31))

    assert prune().campaigns == 1

    assert set(Campaign.objects.values_list("id", flat=True)) == {young.id, running.id}
    assert CampaignChunk.objects.count() == 2

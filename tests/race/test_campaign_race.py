"""A campaign against a second beat, a person, another campaign, and those who touch its tasks at the same moment."""

from uuid import uuid4

import pytest
from django.utils import timezone

from django_punctual import cancel_tasks, schedule
from tasks_app.engine.operations.campaigns import undo_operation
from tasks_app.lifecycle.campaigns import steps, verbs
from tasks_app.lifecycle.campaigns.begin import start_undo
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.start import start
from tasks_app.models import Campaign, CampaignChunk, ScheduleTask
from tests.support.audit import deeds
from tests.support.campaigns import begun, carried_out, measured
from tests.support.contend import contend
from tests.support.engine import claim_due, run_due
from tests.support.marks import commits
from tests.support.moves import MONDAY, TUESDAY, claim_one, dead, scheduled, settled, state
from tests.support.operators import operator
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    for module in ("begin", "steps"):
        monkeypatch.setattr(f"tasks_app.lifecycle.campaigns.{module}.CHUNK", 3)


def replayed() -> dict[int, int]:
    """How often each task was."""
    found: dict[int, int] = {}
    for task in deeds().filter(outcome="replayed").values_list("task_id", flat=True):
        found[task] = found.get(task, 0) + 1
    return found


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_beats_one_takes_the_step_and_the_other_does_not_wait(commit):
    ids = dead(*"abcdef")
    campaign = begun(Verb.REPLAY, ids)

    first, second = overlap_results(lambda: steps.step("one"), lambda: steps.step("two"), commit=commit)

    assert (first.value.tasks, second.value, second.waited) == (3, None, False)
    carried_out(campaign, 0)
    Campaign.objects.update(held_until=None)
    carried_out(campaign)
    assert (campaign.done, campaign.counts) == (6, {"replayed": 6})
    assert replayed() == dict.fromkeys(ids, 1)


@pytest.mark.parametrize("verb", [verbs.cancel, verbs.pause])
@pytest.mark.parametrize("commit", [True, False])
def test_who_stops_a_campaign_waits_for_the_step_and_no_other_follows(verb, commit):
    ids = dead(*"abcdef")
    campaign = begun(Verb.REPLAY, ids)

    first, second = overlap_results(lambda: steps.step("one"), lambda: verb(campaign.id, operator()), commit=commit)

    assert first.error is None and second.waited
    assert second.value.campaign.done == (3 if commit else 0)
    assert steps.step("one") is None
    assert len(replayed()) == (3 if commit else 0)


@pytest.mark.parametrize("verb", [verbs.cancel, verbs.pause])
@pytest.mark.parametrize("commit", [True, False])
def test_a_step_leaves_out_a_campaign_that_somebody_is_stopping(verb, commit):
    campaign = begun(Verb.REPLAY, dead(*"abc"))

    _, step = overlap(lambda: verb(campaign.id, operator()), lambda: steps.step("one"), commit=commit)

    assert step is None
    assert (steps.step("one") is None) is commit


@pytest.mark.parametrize("commit", [True, False])
def test_of_one_form_sent_twice_at_once_one_begins_the_campaign(commit):
    ids, number = dead(*"ab"), uuid4()

    first, second = overlap(
        lambda: begun(Verb.REPLAY, ids, by=operator(operation=number)),
        lambda: begun(Verb.REPLAY, ids, by=operator(operation=number)),
        commit=commit,
    )

    assert Campaign.objects.count() == CampaignChunk.objects.count() == 1
    assert (first.id == second.id) is commit


@pytest.mark.parametrize("commit", [True, False])
def test_two_campaigns_for_the_same_tasks_replay_each_once(commit):
    ids = dead(*"ab")
    one, two = begun(Verb.REPLAY, ids), begun(Verb.REPLAY, list(reversed(ids)))

    overlap(lambda: steps.step("one"), lambda: steps.step("two"), commit=commit)
    for campaign in (one, two):
        carried_out(campaign)
    Campaign.objects.update(held_until=None)
    carried_out(one)
    carried_out(two)

    assert replayed() == dict.fromkeys(ids, 1)
    assert {one.state, two.state} == {"DONE"}


def test_a_step_waits_for_who_replaces_a_task_and_leaves_the_old_one_alone():
    [old] = dead("a")
    campaign = begun(Verb.REPLAY, [old])

    overlap(lambda: schedule("T_QUIET", "a", at=MONDAY), lambda: steps.step("one"))

    campaign.refresh_from_db()
    assert campaign.counts == {"superseded": 1}
    assert state(old).status == "DEAD" and state(old).current is False


def test_a_step_waits_for_a_cancel_and_an_order_for_a_step():
    ids = scheduled(*"abc", at=MONDAY)
    campaign = begun(Verb.CANCEL, ids)

    done, step = overlap(lambda: cancel_tasks(ids[:1], operator()), lambda: steps.step("one"))

    campaign.refresh_from_db()
    assert len(done.answers) == 1 and step.tasks == 3
    assert campaign.counts == {"finished": 1, "cancelled": 2}


def test_an_undo_waits_for_a_claim_and_leaves_alone_what_has_begun():
    ids = scheduled("a", "b", at=MONDAY)
    moved = carried_out(begun(Verb.MOVE, ids, by=operator(), at=timezone.now()))
    ScheduleTask.objects.filter(id=ids[1]).update(due_at=TUESDAY, execute_time=TUESDAY)  # somebody moves it on
    undo = undo_operation(moved.operation, operator())

    claimed, step = overlap(claim_due, lambda: steps.step("one"))

    undo.refresh_from_db()
    assert len(claimed) == 1 and step.tasks == 2
    assert undo.counts == {"running": 1, "changed": 1}
    assert (state(ids[0]).status, ScheduleTask.objects.get(id=ids[1]).due_at) == ("RUNNING", TUESDAY)


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_undos_at_once_one_puts_a_cancelled_task_back(commit):
    [task] = scheduled("a", at=MONDAY)
    cancelled = carried_out(begun(Verb.CANCEL, [task]))
    about = {"tenant": None, "task_type": None, "selection": "ordered by two people at once"}
    undos = [start_undo(cancelled.operation, [[task]], operator(), **about) for _ in range(2)]

    overlap(lambda: steps.step("one"), lambda: steps.step("two"), commit=commit)
    for undo in undos:
        carried_out(undo)

    Campaign.objects.update(held_until=None)
    answers = [carried_out(undo).counts for undo in undos]
    assert sorted(answers, key=str) == [{"put back": 1}, {"superseded": 1}]
    assert ScheduleTask.objects.get(biz_key="a", current=True).due_at == MONDAY


def test_a_claim_skips_what_a_step_holds():
    ids = dead(*"ab")
    begun(Verb.REPLAY, ids)

    step, claimed = overlap(lambda: steps.step("one"), claim_due)

    assert (step.tasks, claimed) == (2, [])
    assert sum(batch.size for batch in claim_due()) == 2


def test_a_measure_leaves_out_a_campaign_whose_step_is_running_and_the_other_way_round():
    campaign = begun(Verb.REPLAY, dead(*"abcdef"))
    carried_out(campaign, 1)
    run_due()
    Campaign.objects.update(measure_at=campaign.created_at)

    step, seen = overlap(lambda: steps.step("beat"), steps.measure)
    assert (step.tasks, seen) == (3, None)

    run_due()
    campaign = begun(Verb.REPLAY, dead(*"ghi"))
    Campaign.objects.exclude(id=campaign.id).update(state="PAUSED")
    first, second = overlap(steps.measure, lambda: steps.step("beat"))
    assert first is not None and second.tasks == 3


def test_a_measure_waits_for_who_has_a_task_that_is_over_and_counts_it_once():
    [task] = dead("a")
    ScheduleTask.objects.update(lane="high")
    campaign = carried_out(begun(Verb.REPLAY, [task]))
    run_due()
    Campaign.objects.update(measure_at=campaign.created_at)

    overlap(lambda: schedule("T_QUIET", "a", at=MONDAY), steps.measure)

    assert measured(campaign).succeeded == 1


def test_a_task_that_runs_while_it_is_measured_is_counted_when_it_has_ended():
    [task] = dead("a")
    campaign = carried_out(begun(Verb.REPLAY, [task]))
    Campaign.objects.update(measure_at=campaign.created_at)
    number = claim_one()

    overlap(lambda: settled(start(number, "worker")), steps.measure)
    campaign.refresh_from_db()
    before = campaign.waiting

    assert before == 1
    assert measured(campaign).succeeded == 1


def test_steps_orders_and_measures_lock_in_one_order():
    ids = dead(*"abcdef")
    campaign = carried_out(begun(Verb.REPLAY, ids), 1)
    run_due()
    Campaign.objects.update(measure_at=campaign.created_at, held_until=None)

    results = contend(
        lambda: ScheduleTask.objects.select_for_update().get(id=ids[0]),
        steps.measure,
        lambda: steps.step("one"),
        lambda: verbs.pause(campaign.id, operator()),
    )

    assert [result.error for result in results] == [None, None, None]

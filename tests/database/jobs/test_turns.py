"""Jobs whose instances must not overlap: what is decided when the time of one comes, and who goes when one is over."""

from datetime import timedelta

import pytest

from django_punctual import cancel, ensure, reschedule
from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask
from tasks_app.engine.beat import turn_giver
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.beat.leases import Leases
from tasks_app.engine.beat.turn_giver import TurnGiver, give_due_turns
from tasks_app.engine.doctor.checks import check_named
from tasks_app.engine.doctor.whole import assert_consistent, broken_rules
from tasks_app.engine.nodes import new_node_id
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.why import why_job, why_task
from tasks_app.lifecycle.claim import peek
from tasks_app.lifecycle.dead_letter import discard, replay
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.operate import Verb, operate
from tasks_app.lifecycle.past import move_batches
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.turns import give_turns
from tasks_app.models import AuditEntry, ScheduleTask, TaskBatch, Turn
from tests.support.engine import anybodys, claim_due, expire_lease, row, run_due
from tests.support.events import told
from tests.support.jobs import by, fire_times, instances, make, now, time_passes, was_down
from tests.support.live import a_beat_is_alive
from tests.support.moves import FINAL, OK, RETRY, RETURN, SKIP, SNOOZE, TUESDAY, settled
from tests.support.operators import operator
from tests.support.turns import comes, ids, one_at_a_time, runs, statuses, turns, under_way, what_is_due

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)
CARING = ("skip", "queue_one", "queue_all", "replace")
every_policy = pytest.mark.parametrize("overlap", CARING)


# When its time comes.


def test_a_job_that_allows_overlap_has_no_turns():
    job = one_at_a_time("allow")

    assert {task.status for task in instances(job)} == {"INIT"}
    assert not Turn.objects.exists()
    assert give_due_turns().released == 0


@every_policy
def test_an_instance_waits_until_its_time_comes_and_then_goes_if_nobody_is_under_way(overlap):
    job = one_at_a_time(overlap)
    first, second, third = ids(job)
    assert statuses(first, second, third) == ["BLOCKED"] * 3
    assert [task.due_at for task in instances(job)] == [None] * 3

    report = comes(first)

    assert (report.released, report.cancelled) == (1, 0)
    assert statuses(first, second, third) == ["INIT", "BLOCKED", "BLOCKED"]
    assert row(first).due_at == Turn.objects.get(task=first).at
    assert turns(job) == {first: "taken", second: "new", third: "new"}


def test_the_beat_waits_for_the_moment_that_comes_next(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOOK_SECONDS": 3600.0}
    job = one_at_a_time("skip", jitter=9)
    at = instances(job)[0].fire_time + job.jitter_offset * SECOND

    assert give_due_turns().wait_seconds == pytest.approx((at - now()).total_seconds(), abs=1)


def test_a_look_of_the_dispatcher_tells_whether_anybody_waits_for_a_turn():
    def waits() -> bool:
        return peek("test", anybodys(), besides=True).besides.turns

    assert not waits()
    job = one_at_a_time("queue_all")
    first, second, third = ids(job)
    assert waits()
    assert peek("test", anybodys()).besides is None  # nobody asked

    Turn.objects.filter(task=third).delete()
    runs(first)
    comes(second)
    assert turns(job) == {first: "taken", second: "queued"}
    assert waits()

    Turn.objects.filter(task=second).delete()
    assert not waits()  # the one that runs has its turn


def test_while_nobody_waits_nobody_asks_whose_turn_it_is(django_assert_num_queries):
    giver = TurnGiver(Leases(new_node_id(), "beat-1", lambda _: None))
    giver.heard(waiting=False)
    job = one_at_a_time("skip")
    Turn.objects.filter(task=ids(job)[0]).update(at=now())
    with django_assert_num_queries(0):
        assert giver.run_once() == conf().LOOK_SECONDS

    giver.heard(waiting=True)
    giver.run_once()

    assert row(ids(job)[0]).status == "INIT"


def test_what_was_heard_of_turns_is_not_believed_for_long(monkeypatch):
    monkeypatch.setattr(turn_giver, "BELIEVED", 0.0)
    giver = TurnGiver(Leases(new_node_id(), "beat-1", lambda _: None))
    giver.heard(waiting=False)
    job = one_at_a_time("skip")
    Turn.objects.filter(task=ids(job)[0]).update(at=now())

    giver.run_once()

    assert row(ids(job)[0]).status == "INIT"


def test_skip_cancels_the_one_that_comes_while_another_is_under_way_and_says_which():
    job = one_at_a_time("skip")
    first, second, third = ids(job)
    runs(first)

    assert comes(second).cancelled == 1

    skipped = row(second)
    assert (skipped.status, skipped.error_code, skipped.cancelled_by) == ("CANCELLED", "OVERLAP", "scheduler")
    assert skipped.error_msg == f"an older instance of its job was under way: {first}"
    assert turns(job) == {first: "taken", third: "new"}
    [event] = [one for one in told() if one.task == second and one.type == "task.cancelled"]
    assert event.data == {"code": "OVERLAP", "reason": skipped.error_msg, "by": "scheduler"}


def test_queue_one_lets_one_wait_and_cancels_those_that_come_meanwhile():
    job = one_at_a_time("queue_one")
    first, second, third = ids(job)
    runs(first)

    comes(second)
    comes(third)

    assert statuses(first, second, third) == ["RUNNING", "BLOCKED", "CANCELLED"]
    assert row(third).error_msg.startswith("an older instance of its job was under way, and another was waiting")
    assert turns(job) == {first: "taken", second: "queued"}


def test_of_two_that_come_together_queue_one_keeps_the_earlier():
    job = one_at_a_time("queue_one")
    first, second, third = ids(job)
    runs(first)

    comes(second, third)

    assert statuses(second, third) == ["BLOCKED", "CANCELLED"]


def test_queue_all_lets_them_go_one_by_one_in_the_order_of_their_times():
    job = one_at_a_time("queue_all")
    waiting = ids(job)
    comes(*waiting)

    for number, task in enumerate(waiting):
        assert under_way(job) == [task]
        settled(what_is_due())
        give_due_turns()
        assert statuses(*waiting[: number + 1]) == ["SUCCESS"] * (number + 1)
    assert turns(job) == {waiting[-1]: "taken"}


def test_what_waited_in_line_is_late_from_its_turn_on():
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    batch = runs(first)
    comes(second)
    settled(batch)
    before = now()

    give_due_turns()

    assert row(second).due_at >= before
    assert row(second).allowed_at == row(second).due_at


def test_replace_cancels_the_older_one_which_can_not_settle_any_more():
    job = one_at_a_time("replace")
    first, second, _ = ids(job)
    batch = runs(first)

    report = comes(second)

    assert (report.released, report.cancelled) == (1, 1)
    assert statuses(first, second) == ["CANCELLED", "INIT"]
    assert (row(first).error_code, row(first).start_time is not None) == ("OVERTAKEN", True)
    assert row(first).error_msg == f"a newer instance of its job took its turn: {second}"
    assert settled(batch, OK) == 0
    assert statuses(first) == ["CANCELLED"]


def test_of_several_that_replace_the_newest_runs():
    job = one_at_a_time("replace")
    first, second, third = ids(job)

    comes(first, second, third)

    assert statuses(first, second, third) == ["CANCELLED", "CANCELLED", "INIT"]
    assert {row(task).error_code for task in (first, second)} == {"OVERTAKEN"}
    assert turns(job) == {third: "taken"}


def test_it_is_decided_for_many_jobs_at_once(django_assert_num_queries):
    made = [one_at_a_time("skip", f"report {n}") for n in range(5)]
    firsts = [ids(job)[0] for job in made]
    Turn.objects.filter(task__in=firsts).update(at=now() - SECOND)

    with django_assert_num_queries(4):  # who is due, lock, decide, who is due
        give_due_turns(range(16))

    assert statuses(*firsts) == ["INIT"] * 5


# Who is under way.


@pytest.mark.parametrize("outcome", [RETRY, SNOOZE, RETURN], ids=["retry", "snooze", "return"])
def test_what_is_tried_again_is_under_way(outcome):
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    settled(runs(first), outcome)

    comes(second)

    assert statuses(second) == ["BLOCKED"]
    assert under_way(job) == [first]


@pytest.mark.parametrize("outcome", [OK, FINAL, SKIP], ids=["success", "dead", "skipped"])
def test_what_is_over_is_not(outcome):
    job = one_at_a_time("skip")
    first, second, _ = ids(job)
    settled(runs(first), outcome)

    comes(second)

    assert statuses(second) == ["INIT"]


def _cancelled(job, batch, task) -> None:
    cancel(row(task).task_type, row(task).biz_key, reason="enough")


def _lost_for_the_last_time(job, batch, task) -> None:
    ScheduleTask.objects.filter(id=task).update(max_retry=0)
    expire_lease(str(batch.batch_no))
    reap()


def _discarded(job, batch, task) -> None:
    settled(batch, FINAL)
    discard([task], "enough", "alice")


def _moved_to_the_past(job, batch, task) -> None:
    settled(batch, OK)
    ScheduleTask.objects.filter(id=task).update(updated_at=now() - timedelta(days=2))
    TaskBatch.objects.filter(batch_no=batch.batch_no).update(finished_at=now() - timedelta(days=1))
    assert move_batches().tasks == 1


ENDS = {
    "success": lambda job, batch, task: settled(batch, OK),
    "dead": lambda job, batch, task: settled(batch, FINAL),
    "skipped or expired": lambda job, batch, task: settled(batch, SKIP),
    "cancelled": _cancelled,
    "cancelled by an operator": lambda job, batch, task: operate(Verb.CANCEL, [task], operator()),
    "lost": _lost_for_the_last_time,
    "discarded": _discarded,
    "moved to the past": _moved_to_the_past,
    "deleted": lambda job, batch, task: ScheduleTask.objects.filter(id=task).delete(),
}


@pytest.mark.parametrize("end", ENDS)
def test_however_one_ends_the_next_one_goes(end):
    job = one_at_a_time("queue_all")
    first, second, third = ids(job)
    batch = runs(first)
    comes(second)
    assert statuses(second) == ["BLOCKED"]

    ENDS[end](job, batch, first)
    assert give_due_turns().released == 1

    assert statuses(second) == ["INIT"]
    assert turns(job) == {second: "taken", third: "new"}


def test_one_that_is_cancelled_while_it_waits_leaves_the_line():
    job = one_at_a_time("queue_all")
    first, second, third = ids(job)
    batch = runs(first)
    comes(second, third)
    operate(Verb.CANCEL, [second], operator())
    settled(batch)

    give_due_turns()

    assert statuses(second, third) == ["CANCELLED", "INIT"]
    assert turns(job) == {third: "taken"}


def test_one_that_expires_in_line_does_not_run_and_the_next_one_goes():
    job = one_at_a_time("queue_all", expires_after=1)
    time_passes(80 * SECOND)
    give_due_turns()
    late = ids(job)

    for task in late:
        assert under_way(job) == [task]
        run_due()
        assert row(task).error_code == "EXPIRED"
        give_due_turns()


# What comes back waits for its turn too.


@every_policy
def test_a_dead_one_that_is_replayed_waits_for_its_turn(overlap):
    job = one_at_a_time(overlap)
    first, second, _ = ids(job)
    settled(runs(first), FINAL)
    runs(second)

    assert replay([first], "alice").replayed == [first]
    give_due_turns()

    assert statuses(first, second) == ["BLOCKED", "RUNNING"]
    assert turns(job)[first] == "queued"


def test_a_dead_one_whose_job_allows_overlap_does_not():
    job = make(every=20, start_at=now() - 25 * SECOND)
    [first, *_] = ids(job)
    ScheduleTask.objects.filter(id=first).update(due_at=now() - SECOND)
    settled(what_is_due(), FINAL)

    replay([first], "alice")

    assert statuses(first) == ["INIT"]


def test_one_that_is_moved_while_it_runs_keeps_its_turn():
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    runs(first)
    comes(second)

    answer = reschedule(row(first).task_type, row(first).biz_key, at=TUESDAY)
    give_due_turns()

    assert (str(answer.outcome), statuses(first, second)) == ("REPLACED", ["CANCELLED", "BLOCKED"])
    assert under_way(job) == [answer.task_id]
    assert turns(job)[answer.task_id] == "taken"


def test_one_that_is_over_and_wanted_again_waits_for_its_turn():
    job = one_at_a_time("skip")
    first, second, _ = ids(job)
    settled(runs(first), OK)
    runs(second)

    answer = ensure(row(first).task_type, row(first).biz_key, delay=0)
    give_due_turns()

    assert str(answer.outcome) == "CREATED"
    assert statuses(answer.task_id) == ["BLOCKED"]


def test_one_that_waits_and_gets_another_time_is_decided_about_then():
    job = one_at_a_time("queue_all")
    first, second, _ = ids(job)
    batch = runs(first)
    comes(second)

    reschedule(row(second).task_type, row(second).biz_key, at=TUESDAY)
    settled(batch)
    give_due_turns()

    assert statuses(second) == ["BLOCKED"]
    assert (turns(job)[second], Turn.objects.get(task=second).at) == ("new", TUESDAY)
    assert why_task(row(second)).rule == "not_due"


@pytest.mark.parametrize("overlap", ["skip", "replace"])
def test_what_was_missed_queues_whatever_the_policy(overlap):
    job = one_at_a_time(overlap, catch_up="all")
    ScheduleTask.objects.all().delete()
    Turn.objects.all().delete()
    was_down(job, timedelta(minutes=5))
    plan_once()
    missed = [task.id for task in instances(job) if task.fire_time < now() - timedelta(minutes=1)]
    assert len(missed) >= 10

    give_due_turns()

    assert set(statuses(*missed[1:])) == {"BLOCKED"}
    assert under_way(job) == missed[:1] or overlap == "replace"


# Changes of the job: the table in docs/overlap.md.


def in_line(overlap: str = "queue_all"):
    """A job every 20 s: its first firing runs, the second and third wait in line, the others are not due."""
    job = one_at_a_time(overlap)
    time_passes(40 * SECOND)
    plan_once()
    give_due_turns()
    first, second, *_ = ids(job)
    return job, first, second, what_is_due()


def test_an_edit_of_something_else_takes_the_line_back_and_plans_it_again():
    job, first, second, batch = in_line()
    before = fire_times(job)
    assert turns(job)[second] == "queued"

    verbs.edit(job.id, {"payload": {"rule": "new"}}, by())
    give_due_turns()

    assert fire_times(job) == before
    assert statuses(first) == ["RUNNING"]
    others = [task for task in instances(job) if task.id != first]
    assert {task.payload["rule"] for task in others} == {"new"}
    assert {task.status for task in others} == {"BLOCKED"}
    settled(batch)
    give_due_turns()
    assert under_way(job) == [others[0].id]


def test_an_edit_that_allows_overlap_lets_all_go_at_their_times():
    job, *_ = in_line()
    triggered = verbs.trigger(job.id, "now", by()).task_id
    assert statuses(triggered) == ["BLOCKED"]

    changed = verbs.edit(job.id, {"overlap": "allow"}, by())

    assert {task.status for task in instances(job)} == {"RUNNING", "INIT"}
    assert not Turn.objects.exists()
    assert min(changed.dues.values()) <= now().timestamp()


@pytest.mark.parametrize("status", [None, "PAUSED"])
def test_an_edit_that_forbids_overlap_counts_what_is_under_way(status):
    job = make(every=20, start_at=now() - 5 * SECOND)
    first = ids(job)[0]
    ScheduleTask.objects.filter(id=first).update(due_at=now() - SECOND)
    claim_due()
    if status:
        verbs.pause(job.id, by())

    verbs.edit(job.id, {"overlap": "skip"}, by())
    triggered = verbs.trigger(job.id, "now", by()).task_id
    give_due_turns()

    assert turns(job)[first] == "taken"
    assert row(triggered).error_code == "OVERLAP"


def test_several_that_run_when_an_edit_forbids_overlap_go_on_and_break_no_rule():
    job = make(every=20, start_at=now() - 5 * SECOND)
    running = [verbs.trigger(job.id, key, by()).task_id for key in ("a", "b")]
    claim_due()

    verbs.edit(job.id, {"overlap": "queue_all"}, by())
    waiting = [verbs.trigger(job.id, key, by()).task_id for key in ("c", "d")]
    give_due_turns()

    assert statuses(*running) == ["RUNNING", "RUNNING"] and statuses(*waiting) == ["BLOCKED", "BLOCKED"]
    assert_consistent()
    Turn.objects.filter(task__in=waiting).update(state=Turn.TAKEN)
    ScheduleTask.objects.filter(id__in=waiting).update(status="INIT", due_at=now())
    assert [(rule, int(id_)) for rule, id_, _ in broken_rules()] == [(check_named("turns").rule, waiting[1])]


def test_a_pause_takes_the_line_back_but_not_what_was_triggered():
    job, first, _, _ = in_line()
    triggered = verbs.trigger(job.id, "now", by()).task_id

    verbs.pause(job.id, by())
    give_due_turns()

    assert ids(job) == [first, triggered]
    assert turns(job) == {first: "taken", triggered: "queued"}


def test_what_a_pause_took_back_comes_back_in_line():
    job, first, _, batch = in_line()
    line = [task.fire_time for task in instances(job) if task.fire_time <= now()]
    verbs.pause(job.id, by())

    verbs.resume(job.id, by(), on_resume="all")
    give_due_turns()

    assert fire_times(job)[: len(line)] == line
    waiting = [task.id for task in instances(job) if task.id != first and task.fire_time <= now()]
    assert {turns(job)[task] for task in waiting} == {"queued"}
    settled(batch)
    give_due_turns()
    assert under_way(job) == [waiting[0]]


def test_a_deletion_takes_the_line_back_and_cancels_what_was_triggered():
    job, first, _, batch = in_line()
    triggered = verbs.trigger(job.id, "now", by()).task_id

    verbs.delete(job.id, by())

    assert ids(job) == [first, triggered]
    assert (row(triggered).status, row(triggered).error_code) == ("CANCELLED", "JOB_DELETED")
    assert not Turn.objects.exists()
    assert settled(batch) == 1


def test_a_job_that_counts_its_runs_gets_those_back_that_are_taken_back():
    job = one_at_a_time("queue_all", max_runs=10)
    job.refresh_from_db()
    assert job.runs == 3

    verbs.pause(job.id, by())

    job.refresh_from_db()
    assert (job.runs, instances(job)) == (0, [])


# Triggered by hand.


@pytest.mark.parametrize(
    ("overlap", "given", "status"),
    [
        ("skip", None, "CANCELLED"),
        ("skip", "queue_all", "BLOCKED"),
        ("skip", "allow", "INIT"),
        ("queue_one", None, "BLOCKED"),
        ("queue_all", "skip", "CANCELLED"),
        ("queue_all", "replace", "INIT"),
        ("allow", None, "INIT"),
        ("allow", "skip", "CANCELLED"),
        ("allow", "queue_one", "BLOCKED"),
        ("allow", "replace", "INIT"),
    ],
)
def test_a_trigger_follows_the_jobs_policy_or_its_own(overlap, given, status):
    job = one_at_a_time(overlap)
    first = ids(job)[0]
    if overlap == "allow":
        ScheduleTask.objects.filter(id=first).update(due_at=now() - SECOND)
    else:
        comes(first)
    claim_due()

    done = verbs.trigger(job.id, "now", by(), overlap=given)
    give_turns([job.id])

    assert statuses(done.task_id) == [status]
    assert statuses(first) == ["CANCELLED" if given == "replace" else "RUNNING"]
    detail = AuditEntry.objects.get(verb="trigger").detail
    assert detail.get("overlap") == (given or (overlap if overlap != "allow" else None))


def test_the_same_key_is_the_same_instance_whatever_became_of_it():
    job = one_at_a_time("skip")
    comes(ids(job)[0])
    first = verbs.trigger(job.id, "now", by())
    give_due_turns()

    again = verbs.trigger(job.id, "now", by())

    assert (again.task_id, again.new) == (first.task_id, False)


@pytest.mark.parametrize("value", ["sometimes", "", 1, None])
def test_an_unknown_policy_is_refused_with_those_that_there_are(value):
    with pytest.raises(InvalidTask, match=r"overlap=.* is unknown; use allow, skip, queue_one, queue_all, replace"):
        make(overlap=value)


def test_so_is_that_of_a_trigger():
    job = make()
    with pytest.raises(InvalidTask, match="overlap='sometimes' is unknown"):
        verbs.trigger(job.id, "now", by(), overlap="sometimes")


# Why it waits.


def test_why_names_the_instance_that_it_waits_for_and_who_is_before_it():
    job = one_at_a_time("queue_all")
    first, second, third = ids(job)
    runs(first)
    comes(second, third)

    reason = why_task(row(third))

    assert reason.rule == "waits_for_turn"
    assert f"Instance {first} of its job" in reason.words
    assert "1 other instance waits before it." in reason.words
    assert why_job(job).rule == "waits_for_turn"
    assert f"Its instance {second}" in why_job(job).words


def test_why_says_when_its_time_comes():
    job = one_at_a_time("skip")

    reason = why_task(instances(job)[0])

    assert (reason.rule, "It is not due until" in reason.words) == ("not_due", True)


def test_the_status_says_that_nobody_decides_and_since_when():
    a_beat_is_alive()
    job = one_at_a_time("skip")
    assert read_status().turns_behind_seconds is None

    Turn.objects.filter(task=ids(job)[0]).update(at=now() - timedelta(minutes=5))

    assert 299 < read_status().turns_behind_seconds < 400
    assert any("Turns are behind" in problem for problem in read_status().problems())
    give_due_turns()
    assert read_status().turns_behind_seconds is None

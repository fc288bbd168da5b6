"""An operator's orders: what each does in each state, what is written down about it, and that it happens once."""

from uuid import uuid4

import pytest
from django.db import DatabaseError, transaction

from django_punctual import (
    Answer,
    InvalidTask,
    Operator,
    cancel,
    cancel_tasks,
    move_tasks,
    retry_tasks,
    schedule,
)
from tasks_app.engine.operations.campaigns import start_matching
from tasks_app.engine.operations.operate import operate_tasks, preview_matching, preview_tasks
from tasks_app.engine.watch.browse import Filter
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import AuditEntry, DlqEntry, ScheduleTask
from tests.support.audit import deeds
from tests.support.campaigns import carried_out
from tests.support.engine import claim_due, run_due
from tests.support.marks import commits
from tests.support.moves import MONDAY, TUESDAY, dead, events, rows_of, scheduled, state
from tests.support.operators import operator

pytestmark = commits

FAILING = {"do": "retry", "after": 3600}


@pytest.fixture
def zoo():
    """One task in each state, by its name; and one whose unit has a newer task."""
    ids = {"DEAD": dead("dead")[0], "SUPERSEDED": dead("superseded")[0]}
    schedule("T_QUIET", "superseded", at=MONDAY)
    ids["FAIL"] = schedule("T_QUIET", "fail", payload=FAILING).task_id
    ids["SUCCESS"] = schedule("T_QUIET", "success").task_id
    ids["ROLLING"] = schedule("T_QUIET", "rolling", repeat_after=86_400).task_id
    run_due()
    ids["RUNNING"] = schedule("T_QUIET", "running").task_id
    claim_due()
    ids["CANCELLED"] = schedule("T_QUIET", "cancelled", at=MONDAY).task_id
    cancel("T_QUIET", "cancelled", by="me")
    ids["INIT"] = schedule("T_QUIET", "init", at=MONDAY).task_id
    return ids


OF_THE_DEAD = {
    "FAIL": Answer.NOT_DEAD,
    "INIT": Answer.NOT_DEAD,
    "RUNNING": Answer.NOT_DEAD,
    "SUCCESS": Answer.FINISHED,
    "ROLLING": Answer.NOT_DEAD,
    "CANCELLED": Answer.FINISHED,
    "SUPERSEDED": Answer.SUPERSEDED,
}
TABLE = {
    Verb.RETRY: {
        "DEAD": Answer.REPLAYED,
        "FAIL": Answer.DUE_NOW,
        "INIT": Answer.PLANNED,
        "RUNNING": Answer.RUNNING,
        "SUCCESS": Answer.FINISHED,
        "ROLLING": Answer.FINISHED,
        "CANCELLED": Answer.FINISHED,
        "SUPERSEDED": Answer.SUPERSEDED,
    },
    Verb.REPLAY: {
        "DEAD": Answer.REPLAYED,
        "FAIL": Answer.PLANNED,
        "INIT": Answer.PLANNED,
        "RUNNING": Answer.RUNNING,
        "SUCCESS": Answer.FINISHED,
        "ROLLING": Answer.FINISHED,
        "CANCELLED": Answer.FINISHED,
        "SUPERSEDED": Answer.SUPERSEDED,
    },
    Verb.CANCEL: {
        "DEAD": Answer.FINISHED,
        "FAIL": Answer.CANCELLED,
        "INIT": Answer.CANCELLED,
        "RUNNING": Answer.CANCELLED,
        "SUCCESS": Answer.FINISHED,
        "ROLLING": Answer.CANCELLED,
        "CANCELLED": Answer.FINISHED,
        "SUPERSEDED": Answer.SUPERSEDED,
    },
    Verb.MOVE: {
        "DEAD": Answer.FINISHED,
        "FAIL": Answer.MOVED,
        "INIT": Answer.MOVED,
        "RUNNING": Answer.REPLACED,
        "SUCCESS": Answer.FINISHED,
        "ROLLING": Answer.MOVED,
        "CANCELLED": Answer.FINISHED,
        "SUPERSEDED": Answer.SUPERSEDED,
    },
    Verb.REPLAY: OF_THE_DEAD | {"DEAD": Answer.REPLAYED},
    Verb.DISCARD: OF_THE_DEAD | {"DEAD": Answer.DISCARDED},
}


def order(verb: Verb, ids, by=None):
    by = by or operator()
    match verb:
        case Verb.RETRY:
            return retry_tasks(ids, by)
        case Verb.REPLAY:
            return operate_tasks(verb, ids, by)
        case Verb.CANCEL:
            return cancel_tasks(ids, by)
        case Verb.MOVE:
            return move_tasks(ids, TUESDAY, by)
    return operate_tasks(verb, ids, by)


@pytest.mark.parametrize("verb", list(Verb))
def test_every_state_gets_the_answer_of_the_table_and_the_preview_says_the_same(zoo, verb):
    before = {name: state(id_) for name, id_ in zoo.items()}
    foreseen = preview_tasks(verb, list(zoo.values()))

    done = order(verb, list(zoo.values()))

    assert {name: done.answers[id_] for name, id_ in zoo.items()} == TABLE[verb]
    assert foreseen.counts == done.counts
    untouched = {name for name, answer in TABLE[verb].items() if not answer.acted}
    assert {name: state(zoo[name]) for name in untouched} == {name: before[name] for name in untouched}


def test_a_retried_dead_task_starts_anew_and_its_dead_letter_is_closed(zoo):
    retry_tasks([zoo["DEAD"]], operator())

    assert state(zoo["DEAD"])[:3] == ("INIT", True, 0)
    assert DlqEntry.objects.get(task_id=zoo["DEAD"]).closed_by == "olga"
    assert zoo["DEAD"] in [id_ for batch in claim_due() for id_ in _ids(batch)]


def _ids(batch) -> list[int]:
    return list(ScheduleTask.objects.filter(batch_no=batch.batch_no).values_list("id", flat=True))


def test_a_discarded_task_is_over_says_who_and_why_and_its_dead_letter_is_closed(zoo):
    operate_tasks(Verb.DISCARD, [zoo["DEAD"]], operator("the shop is closed"))

    row, letter = ScheduleTask.objects.get(id=zoo["DEAD"]), DlqEntry.objects.get(task_id=zoo["DEAD"])
    assert (row.status, row.error_code, row.error_msg, row.cancelled_by) == (
        "CANCELLED",
        "DISCARDED",
        "the shop is closed",
        "olga",
    )
    assert (letter.replay_status, letter.closed_by) == ("CLOSED", "olga")
    assert events(zoo["DEAD"])[-1] == "task.cancelled"


def test_a_retried_failed_task_is_due_at_once(zoo):
    retry_tasks([zoo["FAIL"]], operator())

    assert zoo["FAIL"] in [id_ for batch in claim_due() for id_ in _ids(batch)]


def test_a_cancelled_task_says_who_and_why_and_tells_it(zoo):
    cancel_tasks([zoo["INIT"]], operator("no longer wanted"))

    row = ScheduleTask.objects.get(id=zoo["INIT"])
    assert (row.status, row.cancelled_by, row.error_msg) == ("CANCELLED", "olga", "no longer wanted")
    assert events(zoo["INIT"]) == ["task.cancelled"]


def test_a_running_task_that_is_moved_is_replaced(zoo):
    move_tasks([zoo["RUNNING"]], TUESDAY, operator())

    old, new = rows_of("running")
    assert (old.status, new.status, new.execute_time) == ("CANCELLED", "INIT", TUESDAY)


def test_every_task_has_an_entry_of_who_what_and_why(zoo):
    by = operator("the gateway is back")

    retry_tasks([zoo["DEAD"], zoo["SUCCESS"]], by)

    entries = (
        deeds()
        .exclude(outcome="ordered")
        .order_by("task_id")
        .values_list("task_id", "actor", "verb", "reason", "outcome")
    )
    assert list(entries) == [
        (zoo["DEAD"], "olga", "retry", "the gateway is back", "replayed"),
        (zoo["SUCCESS"], "olga", "retry", "the gateway is back", "finished"),
    ]
    assert set(deeds().values_list("operation", flat=True)) == {by.operation}


def test_an_entry_can_be_neither_changed_nor_deleted(zoo):
    retry_tasks([zoo["DEAD"]], operator())

    for write in (lambda: AuditEntry.objects.update(reason="never mind"), lambda: AuditEntry.objects.all().delete()):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            write()


def test_what_rolls_back_leaves_no_entry(zoo):
    with pytest.raises(KeyError), transaction.atomic():
        retry_tasks([zoo["DEAD"]], operator())
        raise KeyError

    assert state(zoo["DEAD"]).status == "DEAD"
    assert not deeds().exists()


def test_an_operation_sent_twice_acts_once(zoo):
    by = operator()
    retry_tasks([zoo["DEAD"]], by)
    run_due()  # it succeeds now
    schedule("T_QUIET", "dead", at=MONDAY)

    again = retry_tasks([zoo["DEAD"]], by)

    assert again.answers == {}
    assert deeds().count() == 1


@pytest.mark.parametrize("reason", ["", "   ", "x" * 1001, "a\0b", None, 7, "\ud800"])
def test_a_bad_reason_is_refused(reason):
    with pytest.raises(InvalidTask, match="reason"):
        Operator("olga", reason)


def test_a_task_that_is_gone_is_left_out():
    assert cancel_tasks([123_456_789], operator()).answers == {}
    assert not deeds().exists()


def test_a_move_needs_an_instant(zoo):
    with pytest.raises(InvalidTask, match="naive"):
        move_tasks([zoo["INIT"]], TUESDAY.replace(tzinfo=None), operator())
    with pytest.raises(InvalidTask, match="missing"):
        move_tasks([zoo["INIT"]], None, operator())
    assert ScheduleTask.objects.get(id=zoo["INIT"]).execute_time == MONDAY


def test_a_task_whose_handler_is_gone_can_still_be_cancelled_and_moved():
    first, second = scheduled("a", "b", at=MONDAY)
    ScheduleTask.objects.filter(id__in=[first, second]).update(task_type="T_FORGOTTEN")

    assert cancel_tasks([first], operator()).answers == {first: Answer.CANCELLED}
    assert move_tasks([second], TUESDAY, operator()).answers == {second: Answer.MOVED}


def test_everything_that_matches_is_counted():
    dead(*(str(n) for n in range(30)))
    scheduled("other", at=MONDAY)

    preview = preview_matching(Verb.RETRY, Filter(state="DEAD"))

    assert (preview.acted, preview.complete) == (30, True)


def test_tasks_younger_than_the_preview_are_not_meant():
    old = scheduled("old", at=MONDAY)
    newest = preview_matching(Verb.CANCEL, Filter(state="INIT")).newest
    young = scheduled("young", at=MONDAY)

    carried_out(start_matching(Verb.CANCEL, Filter(state="INIT", newest=newest), operator()))

    assert [state(*ids).status for ids in (old, young)] == ["CANCELLED", "INIT"]


def test_two_operations_have_numbers_of_their_own():
    assert operator().operation != operator().operation
    number = uuid4()
    assert operator(operation=number).operation == number

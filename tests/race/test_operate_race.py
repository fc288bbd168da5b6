"""An operator's order against the worker that runs the task, the claim that takes it, and the same order sent twice."""

from uuid import uuid4

import pytest
from django.db import connection

from django_punctual import Answer, cancel_tasks, move_tasks, retry_tasks, schedule
from tasks_app.core.moves import Move
from tasks_app.engine.operations.operate import operate_tasks
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import ScheduleTask
from tasks_app.sql import execute
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import claim_due, make_due, run_due
from tests.support.marks import commits
from tests.support.moves import (
    FINAL,
    MONDAY,
    OK,
    RETRY,
    SKIP,
    TUESDAY,
    dead,
    every_outcome,
    ids_of,
    rows_of,
    scheduled,
    settled,
    started,
    state,
)
from tests.support.operators import operator
from tests.support.overlap import overlap

pytestmark = commits


def failed(key: str) -> int:
    task = schedule("T_QUIET", key, payload={"do": "retry", "after": 3600}).task_id
    run_due()
    assert state(task).status == "FAIL"
    return task


@every_outcome
def test_a_cancel_waits_for_the_settle_and_takes_what_is_left_alive(outcome):
    batch = started("a")
    [task] = ids_of(batch)

    moved, done = overlap(lambda: settled(batch, outcome), lambda: cancel_tasks([task], operator()))

    assert moved == 1
    over = outcome in (OK, FINAL, SKIP)
    assert done.answers == {task: Answer.FINISHED if over else Answer.CANCELLED}
    assert state(task).status == {OK: "SUCCESS", FINAL: "DEAD"}.get(outcome, "CANCELLED")
    assert deeds().get().outcome == done.answers[task]


@every_outcome
@pytest.mark.parametrize("order", ["cancel", "move"])
def test_a_settle_after_an_order_moves_nothing(outcome, order):
    batch = started("a")
    [task] = ids_of(batch)
    act = {
        "cancel": lambda: cancel_tasks([task], operator()),
        "move": lambda: move_tasks([task], TUESDAY, operator()),
    }[order]

    done, moved = overlap(act, lambda: settled(batch, outcome))

    assert not moved
    assert done.answers[task] == (Answer.CANCELLED if order == "cancel" else Answer.REPLACED)
    assert [row.status for row in rows_of("a")] == (["CANCELLED"] if order == "cancel" else ["CANCELLED", "INIT"])


def test_a_settle_counts_if_the_order_rolled_back():
    batch = started("a")
    [task] = ids_of(batch)

    _, moved = overlap(lambda: cancel_tasks([task], operator()), lambda: settled(batch, OK), commit=False)

    assert moved == 1
    assert state(task).status == "SUCCESS"
    assert not deeds().exists()


def test_a_retry_waits_for_the_failure_and_brings_the_task_forward():
    batch = started("a")
    [task] = ids_of(batch)

    _, done = overlap(lambda: settled(batch, RETRY), lambda: retry_tasks([task], operator()))

    assert done.answers == {task: Answer.DUE_NOW}
    assert len(claim_due()) == 1


def test_a_claim_skips_what_an_order_holds_and_an_order_waits_for_a_claim():
    task = failed("a")
    make_due(task)

    done, claimed = overlap(lambda: retry_tasks([task], operator()), claim_due)
    assert (done.answers, claimed) == ({task: Answer.DUE_NOW}, [])

    claimed, done = overlap(claim_due, lambda: retry_tasks([task], operator()))
    assert len(claimed) == 1
    assert done.answers == {task: Answer.RUNNING}


@pytest.mark.parametrize("commit", [True, False])
def test_of_one_order_sent_twice_at_once_one_acts(commit):
    ids = dead("a", "b")
    by = operator()

    first, second = overlap(lambda: retry_tasks(ids, by), lambda: retry_tasks(ids, by), commit=commit)

    acted = second if not commit else first
    assert set(acted.answers.values()) == {Answer.REPLAYED}
    if commit:
        assert second.answers == {}
    assert deeds().exclude(outcome="ordered").count() == 2


@pytest.mark.parametrize("commit", [True, False])
def test_a_move_by_so_much_that_is_sent_twice_at_once_moves_each_task_once(commit):
    ids, by, move = scheduled("a", "b", at=MONDAY), operator(), Move(by=TUESDAY - MONDAY)

    overlap(
        lambda: operate_tasks(Verb.MOVE, ids, by, move),
        lambda: operate_tasks(Verb.MOVE, ids, by, move),
        commit=commit,
    )

    assert {ScheduleTask.objects.get(id=id_).due_at for id_ in ids} == {TUESDAY}
    assert deeds().filter(outcome="moved").count() == 2


def test_orders_of_two_people_on_the_same_tasks_do_not_deadlock():
    ids = scheduled(*(str(n) for n in range(20)), at=MONDAY)

    first, second = overlap(
        lambda: move_tasks(ids, TUESDAY, operator()), lambda: cancel_tasks(list(reversed(ids)), operator())
    )

    assert set(first.answers.values()) == {Answer.MOVED}
    assert set(second.answers.values()) == {Answer.CANCELLED}


@pytest.mark.django_db(transaction=True)  # with users and permissions
def test_an_order_that_waits_too_long_for_somebody_is_told_and_changes_nothing():
    [task] = scheduled("a", at=MONDAY)
    user = person("olga", "punctual.view_scheduletask", "punctual.operate_scheduletask")
    given = {"verb": "cancel", "scope": "chosen", "ids": task, "reason": "it has to be", "operation": uuid4()}

    client = client_of(user)
    somebody = connection.copy()
    somebody.set_autocommit(False)
    with somebody.cursor() as cursor:
        cursor.execute("SELECT FROM punctual_task WHERE id = %s FOR UPDATE", [task])
    try:
        execute("SET lock_timeout = '50ms'")
        answer = client.post("/admin/punctual/scheduletask/order/run/", given)
    finally:
        execute("RESET lock_timeout")
        somebody.close()

    assert answer.status_code == 503
    assert b"Nothing was changed; try again" in answer.content
    assert state(task).status == "INIT"
    assert not deeds().exists()

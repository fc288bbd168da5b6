"""The path of a task without processes: schedule, claim, start, execute, settle."""

import pytest

from tasks_app.client import Outcome, find, schedule
from tests.support.engine import claim_due, row, run_due
from tests.support.events import told

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_due_task_runs_and_succeeds():
    task = schedule("T_PLAIN", "a", payload={"n": 1})

    run_due()

    done = row(task.task_id)
    assert (done.status, done.due_at, done.batch_no, done.attempt) == ("SUCCESS", None, None, 0)
    assert done.execute_time <= done.start_time <= done.finish_time
    assert [(event.type, event.task) for event in told()] == [
        ("task.created", task.task_id),
        ("task.succeeded", task.task_id),
    ]


def test_a_task_of_the_future_is_not_claimed():
    schedule("T_PLAIN", "a", delay=60)

    assert claim_due() == []


def test_scheduling_a_live_unit_answers_with_its_id():
    first = schedule("T_PLAIN", "a", delay=60)

    again = schedule("T_PLAIN", "a", delay=5)

    assert (again.outcome, again.task_id) == (Outcome.EXISTS, first.task_id)
    assert find("T_PLAIN", "a").id == first.task_id

"""The path of a task without processes: schedule, claim, start, execute, settle."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from django_punctual import Outcome, find, schedule
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask
from tests.support.engine import batch_row, claim_due, row, run_due
from tests.support.events import told

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.usefixtures("every_event")
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


def test_what_was_due_first_is_begun_first_whatever_its_id():
    now = timezone.now()
    ids = [schedule("T_PLAIN", age, at=now - timedelta(seconds=age)).task_id for age in (10, 30, 20)]

    [report] = run_due()

    assert report.settled == 3
    assert [ids.index(task.id) for task in ScheduleTask.objects.order_by("start_time")] == [1, 2, 0]


def test_a_task_is_told_when_it_was_asked_for_and_since_when_it_could_begin():
    asked, again, resumed = (timezone.now() - timedelta(seconds=ago) for ago in (30, 20, 10))
    ids = [schedule("T_PLAIN", key, at=asked).task_id for key in ("at once", "a retry", "held until a moment ago")]
    ScheduleTask.objects.filter(id__in=ids).update(due_at=asked, allowed_at=None)
    ScheduleTask.objects.filter(id=ids[1]).update(due_at=again)
    ScheduleTask.objects.filter(id=ids[2]).update(allowed_at=resumed)

    [batch] = claim_due()
    tasks = {task.id: task for task in start(batch.batch_no, "w").tasks}

    told = [(tasks[id_].execute_time, datetime.fromtimestamp(tasks[id_].due, UTC)) for id_ in ids]
    assert told == [(asked, asked), (asked, again), (asked, resumed)]
    assert [tasks[id_].token for id_ in ids] == [row(id_).token for id_ in ids]


@pytest.mark.parametrize("size", [2, 1000], ids=["several batches", "one batch"])
def test_each_task_that_a_claim_takes_is_under_the_batch_that_names_it(size):
    for number in range(5):
        schedule("T_PLAIN", number)

    batches = claim_due(size)

    named = {str(batch_row(batch).batch_no): set(batch_row(batch).ids) for batch in batches}
    held = {number: set(ScheduleTask.objects.filter(batch_no=number).values_list("id", flat=True)) for number in named}
    assert held == named
    assert sum(map(len, held.values())) == 5

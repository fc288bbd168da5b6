"""CELERY_TASK: a Celery task run by us."""

import pytest
from celery import shared_task
from celery.exceptions import Ignore, Reject

from django_punctual import schedule
from tasks_app.core.errors import InvalidTask
from tasks_app.lifecycle.jobs import verbs
from tasks_app.models import ScheduleTask
from tests.support.engine import row, run_due
from tests.support.jobs import by, make

pytestmark = pytest.mark.django_db(transaction=True)

CALLS: list = []


@shared_task(name="testapp.note", bind=True)
def note(self, *args, **kwargs):
    CALLS.append((args, kwargs, self.request.retries, self.request.id))
    return kwargs.get("give_back")


@shared_task(name="testapp.never")
async def never(): ...


@shared_task(name="testapp.fail", bind=True, autoretry_for=(KeyError,), max_retries=99)
def fail(self, how):
    match how:
        case "retry":
            raise self.retry(countdown=1)
        case "ignore":
            raise Ignore("not today")
        case "reject":
            raise Reject("never")
        case "autoretry":
            raise KeyError("lost")
    raise ValueError(how)


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def ran(payload: object) -> ScheduleTask:
    task = schedule("CELERY_TASK", "call", payload=payload).task_id
    run_due()
    return row(task)


def test_a_celery_task_runs_with_its_arguments_and_our_token():
    task = ran({"task": "testapp.note", "args": [1, "two"], "kwargs": {"three": 3}})

    assert task.status == "SUCCESS"
    assert [((1, "two"), {"three": 3}, 0, str(task.token))] == CALLS


def test_what_a_celery_task_returns_is_the_result():
    task = ran({"task": "testapp.note", "kwargs": {"give_back": {"sent": 3}}})

    assert (task.status, task.result) == ("SUCCESS", {"sent": 3})


def test_a_celery_task_of_which_nothing_ran_has_failed_like_any_handler():
    task = ran({"task": "testapp.never"})

    assert (task.status, task.error_code) == ("FAIL", "NEVER_RAN")


@pytest.mark.parametrize(
    ("how", "status", "code"),
    [
        ("retry", "FAIL", "RETRY"),
        ("autoretry", "FAIL", "KeyError"),
        ("ignore", "CANCELLED", "IGNORED"),
        ("reject", "DEAD", "REJECTED"),
        ("crash", "FAIL", "ValueError"),
    ],
)
def test_what_a_celery_task_raises_is_settled_by_our_rules(how, status, code):
    task = ran({"task": "testapp.fail", "args": [how]})

    assert (task.status, task.error_code) == (status, code)


def test_an_unknown_celery_task_is_tried_again_and_seen():
    task = ran({"task": "testapp.nope"})

    assert (task.status, task.error_code) == ("FAIL", "UNKNOWN_CELERY_TASK")


BAD = [
    {},
    {"args": []},
    {"task": ""},
    {"task": 5},
    {"task": "x" * 10_000},
    {"task": "celery.backend_cleanup"},
    {"task": "punctual.run_batch"},
    {"task": "testapp.note", "args": {}},
    {"task": "testapp.note", "kwargs": []},
    {"task": "testapp.note", "arg": []},
    ["testapp.note"],
    None,
]


@pytest.mark.parametrize("payload", BAD)
def test_a_job_with_a_payload_that_names_no_task_is_refused(payload):
    with pytest.raises(InvalidTask):
        make(task_type="CELERY_TASK", payload=payload)


def test_a_trigger_with_a_payload_that_names_no_task_is_refused():
    job = make(task_type="CELERY_TASK", payload={"task": "testapp.note"})

    with pytest.raises(InvalidTask):
        verbs.trigger(job.id, "k", by(), payload={"args": []})


def test_a_task_with_such_a_payload_dies_at_once():
    assert (ran({"args": []}).status, ran({"args": []}).error_code) == ("DEAD", "BAD_PAYLOAD")

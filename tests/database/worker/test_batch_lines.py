"""What a worker logs of a batch at the usual level, and what people see of a handler's error."""

import logging
from uuid import uuid4

from django.db.models.functions import Now

from django_punctual import schedule
from tasks_app.engine.canary import send_canaries
from tasks_app.engine.worker.task import run_batch
from tasks_app.models import Node, ScheduleTask
from tests.support.engine import claim_due, row, run_due
from tests.support.marks import commits
from tests.support.testapp import handlers

pytestmark = commits


def test_a_batch_is_one_line_with_its_type_and_a_canary_is_none(caplog, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CANARY_SECONDS": 60.0}
    Node.objects.create(
        node_id=uuid4(), kind=Node.WORKER, name="w", started_at=Now(), renewed_at=Now(), lanes=["default"]
    )
    send_canaries()
    assert ScheduleTask.objects.filter(task_type="PUNCTUAL_CANARY").exists()
    schedule("T_QUIET", "a")
    batches = [batch.batch_no for batch in claim_due()]
    assert len(batches) == 2
    caplog.set_level(logging.INFO, "tasks_app.engine.worker.task")

    for batch_no in batches:
        run_batch(batch_no)

    [line] = [one.getMessage() for one in caplog.records if one.getMessage().startswith("batch.")]
    assert line.startswith("batch.done batch=")
    assert line.endswith("type=T_QUIET tasks=1")


def test_the_trace_of_an_error_begins_with_the_handler():
    task = schedule("T_PLAIN", "a", payload={"do": "crash", "message": "the culprit"}).task_id

    run_due()

    message, _, stack = row(task).error_msg.partition("\n\n")
    assert message == "'the culprit'"
    assert stack.splitlines()[0].strip().startswith(f'File "{handlers.__file__}"')

"""What a caller has stored does not steer the terminal of an operator, nor forge a line of what it prints."""

import os

from django_punctual import schedule
from tasks_app.models import ScheduleTask
from tests.support import nursery
from tests.support.stack import url_of_test_database


def test_why_prints_a_reason_and_does_not_obey_it(caller):
    refused = caller().post("/tasks", {"task_type": "T_QUIET", "key": "\x1b]0;owned\a"})
    task = schedule("T_QUIET", "a", tenant="acme").task_id
    stored = "\x1b[2J\x1b]0;owned\a\n$ all is well"  # as it could be stored once
    ScheduleTask.objects.update(status="CANCELLED", due_at=None, cancelled_by="token \x9b2J", error_msg=stored)

    env = os.environ | {"DATABASE_URL": url_of_test_database()}
    told = nursery.run("manage", "why", str(task), env=env)

    assert refused.status == 422
    assert told.returncode == 0, told.stderr
    assert told.stdout.rstrip("\n").isprintable()
    assert "\\x1b[2J" in told.stdout

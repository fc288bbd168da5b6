"""A site that stands by: its beat and its worker run and do nothing, and go on within seconds once it is activated."""

from io import StringIO

import pytest
from django.core.management import call_command

from django_punctual import schedule
from tasks_app.engine.beat.publisher import publish
from tasks_app.engine.queues import depths
from tasks_app.lifecycle.installation import look, touch
from tasks_app.models import Curb, Installation, Node, ShardLease
from tests.support.engine import claim_due, row
from tests.support.stack import Stack
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_site_takes_over_with_the_processes_that_stood_by(stack: Stack):
    look()
    touch()
    claimed = schedule("T_PLAIN", "claimed").task_id
    publish(claim_due())  # by a site whose broker is the same
    due = schedule("T_PLAIN", "due").task_id
    beat, worker = stack.beat(STANDBY="1"), stack.worker(STANDBY="1")
    for one in (beat, worker):
        wait_until(lambda one=one: "site.standing_by" in one.text(), timeout=30, describe=stack.logs)
    wait_until(lambda: Node.objects.filter(site="standby").count() == 2, timeout=30, describe=stack.logs)
    assert not ShardLease.objects.exclude(holder=None).exists()
    assert (row(claimed).status, row(due).status, depths()["default"]) == ("RUNNING", "INIT", 1)
    assert Node.objects.get(kind="WORKER").slots == 0

    call_command("site", "activate", "standby", "--reason", "main is gone", stdout=StringIO())

    wait_until(lambda: row(due).status == row(claimed).status == "SUCCESS", timeout=30, describe=stack.logs)
    wait_until(lambda: Installation.objects.get().site_recovery is None, timeout=30, describe=stack.logs)
    assert Curb.objects.count() == 0

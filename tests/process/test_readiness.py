"""`scheduler_status --wait`: what a deployment asks before it goes on."""

import json
import re
import signal
from collections.abc import Iterator
from io import StringIO
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from django_punctual import schedule
from tasks_app.core.lanes import LANES
from tasks_app.engine.nodes import process_name
from tasks_app.models import Node
from tests.support import deployment
from tests.support.deployment import LANE, unit_command
from tests.support.live import a_beat_is_alive, a_worker_is_alive
from tests.support.marks import commits
from tests.support.processes import wait_for
from tests.support.stack import ROOT
from tests.support.wait import wait_until

pytestmark = commits

UNITS = ("punctual-beat.service", "punctual-worker@.service")


def ask(*options: str) -> tuple[int, str, str]:
    """Exit code, and what is printed."""
    out, err = StringIO(), StringIO()
    try:
        call_command("scheduler_status", *options, stdout=out, stderr=err)
    except SystemExit as end:
        return end.code, out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


@pytest.fixture
def redis_user(redis) -> Iterator[str]:
    """The URL of the one that docs/deploy.md makes."""
    (order,) = re.findall(r"^ACL SETUSER .*", (ROOT / "docs" / "deploy.md").read_text(), re.MULTILINE)
    redis.execute_command(*order.split())
    parts = urlsplit(settings.PUNCTUAL["REDIS_URL"])
    yield parts._replace(netloc=f"punctual:CHANGE-ME@{parts.netloc.rpartition('@')[2]}").geturl()
    redis.acl_deluser("punctual")


def test_it_waits_until_the_processes_of_the_units_are_up_and_they_end_in_time(redis_user, stack):
    """The very commands that systemd would run, with no more rights in Redis than the page gives them."""
    waiting = stack.run("status", ["manage", "scheduler_status", "--wait=60"])
    units = deployment.units()
    wait_until(lambda: "Waiting: Nothing is dispatched" in waiting.text(), 30, describe=waiting.text)

    started = {name: stack.run(name, unit_command(units[name]), REDIS_URL=redis_user) for name in UNITS}

    assert waiting.popen.wait(60) == 0, stack.logs()
    assert "All is well" in waiting.text()
    wait_for(stack, schedule("T_QUIET", "a").task_id)
    assert "NOPERM" not in stack.logs()
    assert ask("--here")[0] == 0
    assert ask("--wait=0", f"--lanes={LANE}")[0] == 0
    for one in started.values():
        one.signal(signal.SIGTERM)
    for name, one in started.items():
        assert one.popen.wait(float(units[name]["Service"]["TimeoutStopSec"])) == 0, stack.logs()
    assert ask("--here")[0] == 1


def test_at_the_deadline_it_says_what_is_missing():
    a_beat_is_alive()

    code, _, said = ask("--wait=0.1")
    assert code == 1
    assert "Not ready:\n  No task can run: no worker is alive." in said

    code, printed, _ = ask("--wait=0.1", "--json")
    assert code == 1
    assert "No task can run: no worker is alive." in json.loads(printed)["unserved"][0]


def test_a_lane_whose_worker_has_gone_is_waited_for():
    a_beat_is_alive()
    a_worker_is_alive("critical", "default")
    assert ask("--wait=0")[0] == 0

    Node.objects.filter(kind=Node.WORKER).update(lanes=["critical"])
    Node.objects.create(
        node_id=uuid4(), kind=Node.WORKER, name="gone", lanes=["default"], seen_at="2020-01-01T00:00:00Z"
    )
    assert ask()[0] == 0  # it works, as far as anything is due

    code, _, said = ask("--wait=0")
    assert code == 1
    assert "No worker consumes lane 'default' any more" in said


def test_a_lane_that_was_named_needs_a_worker_even_if_it_never_had_one():
    a_beat_is_alive()
    a_worker_is_alive("critical")

    assert ask("--wait=0", "--lanes=critical")[0] == 0
    code, _, said = ask("--wait=0", "--lanes=critical,low")
    assert code == 1
    assert "Not ready:\n  No worker consumes lane 'low'." in said


def test_a_container_asks_only_for_its_own_process():
    a_beat_is_alive()  # of another machine
    a_worker_is_alive()
    code, _, said = ask("--here", "--wait=0")
    assert (code, said.strip()) == (1, "No beat or worker on this machine is alive.")

    ours = process_name()
    Node.objects.filter(kind=Node.BEAT).update(name=ours)
    code, printed, _ = ask("--here")
    assert (code, printed.strip()) == (0, f"Alive: {ours}.")

    Node.objects.update(seen_at="2020-01-01T00:00:00Z")
    assert ask("--here")[0] == 1
    with pytest.raises(CommandError, match="can't be combined with --json or --lanes"):
        ask("--here", "--json")


def test_a_database_that_is_not_migrated_is_told_from_one_that_is_away():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE punctual_node RENAME TO punctual_node_of_tomorrow")
        try:
            code, _, said = ask("--wait=0")
        finally:
            cursor.execute("ALTER TABLE punctual_node_of_tomorrow RENAME TO punctual_node")

    assert code == 2
    assert 'relation "punctual_node" does not exist. Run `manage.py migrate`.' in said


@pytest.mark.parametrize("wrong", ["--wait=-1", "--wait=soon", "--wait=nan", "--lanes=fast", "--lanes=low,"])
def test_what_makes_no_sense_is_refused_with_the_rule(wrong):
    with pytest.raises(CommandError, match="must be 0 to 86400 seconds|there are " + ", ".join(LANES)):
        ask(wrong)

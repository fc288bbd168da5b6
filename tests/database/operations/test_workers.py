"""Draining a worker: who hears of it, what is claimed for it, and what is told of its lanes; bad input."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from django_punctual import schedule, who_is_missing
from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.core.lanes import LANES
from tasks_app.core.log_url import filled, problems_of
from tasks_app.engine import nodes
from tasks_app.engine.operations import workers
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.workers import read_worker
from tasks_app.lifecycle.claim import peek
from tasks_app.models import Node
from tasks_app.sql import run
from tests.support.audit import deeds
from tests.support.live import a_beat_is_alive

pytestmark = pytest.mark.django_db

NODE = nodes.new_node_id()


@pytest.fixture(autouse=True)
def _patient(settings):
    """However slow the machine, no worker falls silent within a test."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 3600.0, "RELEASE": "2026.11.3"}


@pytest.fixture
def worker() -> str:
    nodes.report_worker(NODE, "host:1", 4, list(LANES))
    return "host:1"


def drain(name: str = "host:1") -> bool:
    return workers.drain(name, reason="its machine is replaced", by="olga")


def slots() -> dict[str, int]:
    return {lane.lane: lane.slots for lane in read_status().lanes}


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("worker", *arguments, stdout=out)
    return out.getvalue()


def test_for_a_drained_worker_nothing_is_claimed_and_its_report_brings_no_slot_back(worker):
    assert drain()
    heard = nodes.report_worker(NODE, "host:1", 4, list(LANES))

    assert (heard.by, heard.reason) == ("olga", "its machine is replaced")
    assert set(slots().values()) == {0}
    assert {one.slots for one in peek("test", range(16)).lanes} == {0}
    [entry] = deeds()
    assert (entry.actor, entry.verb, entry.subject, entry.reason) == ("olga", "drain", "worker host:1", heard.reason)
    assert drain() is False
    assert deeds().count() == 1

    assert workers.resume("host:1", reason="it stays", by="otto")
    assert nodes.report_worker(NODE, "host:1", 4, list(LANES)).at is None
    assert set(slots().values()) == {4}
    assert workers.resume("host:1", reason="it stays", by="otto") is False


def test_a_worker_whose_row_was_pruned_stays_drained(worker):
    drain()
    heard = nodes.report_worker(NODE, "host:1", 4, list(LANES))
    Node.objects.all().delete()

    nodes.report_worker(NODE, "host:1", 0, list(LANES), heard)

    assert nodes.report_worker(NODE, "host:1", 4, list(LANES), heard) == heard
    assert Node.objects.get().slots == 0


def test_a_lane_is_missed_only_if_all_who_serve_it_are_drained(worker):
    a_beat_is_alive()
    nodes.report_worker(nodes.new_node_id(), "host:2", 2, ["default"])
    schedule("T_QUIET", "a", lane="low")
    drain()

    assert who_is_missing("default") == ""
    assert who_is_missing("low") == "every worker that serves the lane 'low' is drained"
    told = " ".join([*read_status().problems(), *read_status().notices()])
    assert "Every worker that consumes lane 'low' is drained, and 1 task is due in it." in told
    assert "manage.py worker resume host:1" in told
    assert "lane 'default'" not in told
    served = {lane: well for lane, well, _ in run("canary_lanes", {"lanes": list(LANES), "node_ttl": 3600.0})}
    assert (served["default"], served["low"]) == (True, False)

    drain("host:2")

    assert any("No task can run: every worker is drained." in one for one in read_status().problems())


def test_the_command_drains_resumes_and_lists(worker):
    assert "batches that it runs now: 0" in command("drain", "host:1", "--reason", "new disk", "--by", "olga")
    assert "drained 20" in command("list") and "by olga: new disk; 0 still busy" in command("list")
    with pytest.raises(CommandError, match="drained already"):
        command("drain", "host:1", "--reason", "new disk")
    assert "takes batches again" in command("resume", "host:1")
    with pytest.raises(CommandError, match="is not drained"):
        command("resume", "host:1")
    nodes.report_worker(NODE, "host:1", 4, list(LANES))
    assert "0.1.0 2026.11.3" in command("list") and "4 slots, 0 busy: critical" in command("list")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hots:1", "No worker 'hots:1' is alive. Did you mean 'host:1'? There are: host:1."),
        ("host:1:77", "'host:1:77' is one of the processes of worker 'host:1': name that one."),
        ("", "No worker '' is alive. There are: host:1."),
    ],
)
def test_a_worker_that_is_not_there_is_refused_by_name(worker, name, words):
    with pytest.raises(NotThere) as refused:
        drain(name)

    assert str(refused.value) == words
    assert not deeds().exists()


def test_a_drain_needs_a_reason_and_a_worker_that_died_is_nobody(worker):
    with pytest.raises(InvalidTask, match="the reason is empty"):
        workers.drain("host:1", reason=" ", by="olga")
    Node.objects.update(seen_at="2020-01-01T00:00:00Z")

    with pytest.raises(NotThere, match="None has reported itself for 3600 s"):
        drain()

    assert read_worker("host:1", None, 10).node.live is False


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("logs.example.com", "must be an http or https address"),
        ("https://{host}/x", "can't be filled in"),
        ("https://logs.example.com/{taks}", "there is no {taks}. Did you mean 'task'?"),
        ("https://logs.example.com/{task!r}", "takes no format of its own"),
        ("https://logs.example.com/{task", "A brace that stays is written twice"),
        ("javascript:alert({task})", "must be an http or https address"),
    ],
)
def test_the_address_of_logs_is_checked(url, words):
    assert words in " ".join(problems_of(url))


def test_what_is_filled_into_the_address_of_logs_stays_in_its_place():
    url = "https://logs.example.com/{task}?q={key}&p={pid}#{to}"

    assert list(problems_of(url)) == []
    assert filled(url, {"task": 7, "key": "a/b&c=#"}) == "https://logs.example.com/7?q=a%2Fb%26c%3D%23&p=#"

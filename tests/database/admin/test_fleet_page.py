"""The page of the fleet: what it shows, who may pause a lane, and bad input."""

import re
from datetime import timedelta
from html import unescape
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from django_punctual import schedule, schedule_many
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.engine import nodes
from tasks_app.engine.beat.leases import Leases
from tasks_app.engine.operations import lanes
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.limited import declare_limits
from tasks_app.lifecycle.start import start
from tasks_app.models import LanePause, Node, TaskBatch
from tasks_app.sql import execute
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import claim_due

pytestmark = pytest.mark.django_db

OPERATE = "punctual.operate_scheduletask"
FLEET = "/admin/punctual/node/"
LOW = f"{FLEET}lane/low/"
SCRIPT = "<script>alert(1)</script> 🛑"


@pytest.fixture
def beats() -> list[Leases]:
    """Two beats that share the shards, and a worker for two of the lanes."""
    found = [Leases(nodes.new_node_id(), name, lambda _: None) for name in ("beat-1", "beat-2")]
    for one in (*found, found[0]):
        one.run_once()
    nodes.report_worker(nodes.new_node_id(), "worker-1", 4, ["critical", "low"])
    return found


def text(client: Client, path: str = FLEET, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def row_of(page: str, heading: str) -> str:
    """The table's row with this heading."""
    [row] = [row for row in page.split("<tr") if f">{heading}</a></th>" in row or f">{heading}</th>" in row]
    return row.split("</tr>")[0]


def test_the_first_page_shows_few_of_many_processes_and_first_those_that_do_not_just_work(viewer, beats):
    for number in range(30):
        nodes.report_worker(nodes.new_node_id(), f"many-{number:02}@host:{number}", 4, ["low"])
    Node.objects.filter(name="many-28@host:28").update(drained_at=timezone.now(), drained_by="olga", drain_reason="r")
    Node.objects.filter(name="many-29@host:29").update(seen_at=timezone.now() - timedelta(hours=1))

    first, all_ = text(viewer, "/admin/"), text(viewer)

    assert first.count(f'href="{FLEET}worker/') == 18 and all_.count(f'href="{FLEET}worker/') == 31
    assert "<td>drained</td>" in row_of(first, "many-28@host:28") and "silent" in row_of(first, "many-29@host:29")
    assert "beat-1" in first and "beat-2" in first and "13 more are not shown." in first
    assert "not shown" not in all_
    assert f'href="{FLEET}worker/many-28@host:28/"' in all_


def test_it_shows_processes_shards_with_holders_and_fencing_numbers_and_takeovers(viewer, beats):
    page = text(viewer)

    assert '<th scope="row">beat-1</th><td>beat</td><td>live</td><td>–</td>' in page
    assert "<td>4</td>" in row_of(page, "worker-1")
    holders = dict(viewer.get(FLEET).context["holders"])
    assert {name: len(shards) for name, shards in holders.items()} == {"beat-1": 8, "beat-2": 8}
    assert f"<b>{holders['beat-2'][0].shard}</b>#2" in page
    assert "its share from beat-1" in page


def test_shards_of_a_beat_that_fell_silent_are_nobodys_until_another_takes_them(viewer, beats):
    execute("UPDATE punctual_shard_lease SET lease_until = now() - interval '1 s' WHERE holder_name = 'beat-2'")
    assert "<strong>nobody</strong>" in text(viewer)
    assert "No beat dispatches shards" in text(viewer)

    beats[0].run_once()

    assert "<strong>nobody</strong>" not in text(viewer)
    assert "over from beat-2, whose lease had run out" in text(viewer)


def test_a_lane_that_nobody_consumes_is_named_with_what_is_due_in_it(viewer, beats):
    schedule("T_QUIET", "a", lane="backfill")

    page = text(viewer, FLEET)

    assert "no worker consumes it" in row_of(page, "backfill")
    assert "no worker consumes it" not in row_of(page, "low")
    assert "No worker consumes lane &#x27;backfill&#x27;, and 1 task is due in it." in page


def test_it_shows_the_messages_in_the_broker_and_says_when_it_does_not_answer(viewer, beats, redis, settings):
    redis.rpush("punctual:low", "a message", "another")
    lane = {one.lane: one for one in viewer.get(FLEET).context["status"].lanes}["low"]
    assert lane.queued == 2

    settings.PUNCTUAL = settings.PUNCTUAL | {"REDIS_URL": "redis://127.0.0.1:1/0"}

    assert "The broker does not answer" in text(viewer)
    assert "<td>unknown</td>" in row_of(text(viewer), "low")


def test_a_lane_whose_queue_is_not_a_list_is_named_and_the_broker_is_not_blamed(viewer, beats, redis):
    redis.set("punctual:low", "x")
    redis.rpush("punctual:high", "a message")

    page = text(viewer)

    assert "Lane &#x27;low&#x27;: its queue is not a list." in page and "punctual:low" in page
    assert "<td>not a list</td>" in row_of(page, "low")
    assert "<td>1</td>" in row_of(page, "high")
    assert "The broker does not answer" not in page


def test_it_shows_limits_with_what_is_due(viewer):
    declare_limits(REGISTRY)
    schedule_many("T_RATED", [{"key": n} for n in range(3)])

    row = row_of(text(viewer), "T_RATED")

    assert "<td>100/s</td> <td>50</td> <td>50</td> <td>–</td> <td>0</td> <td>0</td> <td>3</td>" in row


def test_a_lane_is_paused_and_resumed_with_reasons_and_both_are_written_down(operator, beats):
    assert "Pause" in row_of(text(operator), "low")
    answer = operator.post(LOW, {"verb": "pause", "reason": "the warehouse is down"}, follow=True)

    assert "Lane low is paused." in answer.content.decode()
    row = row_of(text(operator), "low")
    assert "by <bdi>olga</bdi>: <q>the warehouse is down</q>" in row
    assert "Resume" in row
    assert "the warehouse is down" in text(operator, LOW)

    operator.post(LOW, {"verb": "resume", "reason": "it is up"})

    assert not LanePause.objects.exists()
    assert list(deeds().order_by("id").values_list("actor", "verb", "subject", "reason")) == [
        ("olga", "pause", "lane low", "the warehouse is down"),
        ("olga", "resume", "lane low", "it is up"),
    ]


def test_the_overview_shows_a_paused_lane_too(viewer):
    lanes.pause("low", reason="nightly import", by="ana")

    assert "by <bdi>ana</bdi>: <q>nightly import</q>" in row_of(text(viewer, "/admin/"), "low")


def test_a_press_on_pause_does_not_resume_what_somebody_else_has_paused_meanwhile(operator):
    lanes.pause("low", reason="first", by="ana")

    answer = operator.post(LOW, {"verb": "pause", "reason": "second"}, follow=True)

    assert "was paused by somebody else in the meantime" in answer.content.decode()
    assert LanePause.objects.get().reason == "first"


@pytest.mark.parametrize("given", [{"verb": "pause", "reason": "x"}, {}])
def test_who_may_only_look_is_offered_nothing_and_changes_nothing_by_hand(viewer, given):
    assert "/lane/low/" not in text(viewer)
    assert viewer.get(LOW).status_code == 403
    assert viewer.post(LOW, given).status_code == 403
    assert not LanePause.objects.exists()


@pytest.mark.parametrize("path", [FLEET, LOW])
def test_without_the_right_to_view_there_is_nothing_to_see(path):
    text(client_of(person("sam")), path, status=403)
    text(client_of(person("otto", OPERATE)), path, status=403)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"verb": "pause", "reason": ""}, "Say briefly why"),
        ({"verb": "pause", "reason": "x" * 2000}, "at most 1000 characters"),
        ({"verb": "pause", "reason": "a\0b"}, "Null characters are not allowed"),
        ({"verb": "destroy", "reason": "x"}, "destroy is not one of the available choices"),
        ({"reason": "x"}, "This field is required"),
    ],
)
def test_bad_input_is_refused_in_words_and_changes_nothing(operator, given, said):
    answer = operator.post(LOW, given)

    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert not LanePause.objects.exists()


def test_an_unknown_lane_is_not_found(operator):
    assert operator.get(f"{FLEET}lane/lwo/").status_code == 404
    assert operator.post(f"{FLEET}lane/lwo/", {"verb": "pause", "reason": "x"}).status_code == 404


def test_what_people_wrote_is_shown_as_text(operator):
    operator.post(LOW, {"verb": "pause", "reason": SCRIPT})

    for path in (FLEET, LOW, "/admin/"):
        page = text(operator, path)
        assert "<script>alert" not in page
        assert "🛑" in page


def test_before_any_beat_has_run_it_says_so(viewer):
    assert not Node.objects.exists()

    page = text(viewer)

    assert "Nothing is dispatched: no beat is alive" in page
    assert all(row_of(page, lane) for lane in LANES)


# ---- one worker ----

WORKER = f"{FLEET}worker/host:1/"
DRAIN = f"{WORKER}drain/"


@pytest.fixture
def worker(settings) -> str:
    """Of its two slots one runs a batch, and it has finished another."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"NODE_TTL_SECONDS": 3600.0}
    nodes.report_worker(nodes.new_node_id(), "host:1", 2, ["default"])
    schedule("T_QUIET", "done")
    for batch in claim_due():
        run_batch(UUID(batch.batch_no), guarded=False)
    TaskBatch.objects.update(worker="host:1:70")
    schedule("T_QUIET", SCRIPT)
    [batch] = claim_due()
    start(UUID(batch.batch_no), "host:1:71")
    return batch.batch_no


def test_the_page_of_a_worker_says_what_its_slots_run_and_what_it_finished(viewer, worker):
    page = text(viewer, WORKER)

    assert "1 of 2 slots is busy" in page
    assert '<th scope="row">71</th>' in page and worker[:8] in row_of(page, "71")
    assert "&lt;script&gt;" in row_of(page, "71") and "<script>alert" not in page
    [ran] = viewer.get(WORKER).context["view"].ran
    assert (ran.slot, ran.ok) == ("70", 1)
    assert "Drain …" not in page
    assert f'href="{WORKER}"' in row_of(text(viewer), "host:1")


def test_a_worker_that_has_gone_is_found_by_its_batches_from_their_pages(viewer, worker):
    Node.objects.all().delete()
    done = TaskBatch.objects.get(finished_at__isnull=False)
    way = unescape(re.search(r'on <a href="([^"]+)">host:1:70</a>', batch_page(viewer, done))[1])

    assert way.startswith(f"{WORKER}?until=")
    assert "This worker has gone" in text(viewer, way)
    assert str(done.batch_no)[:8] in text(viewer, way)


def batch_page(client: Client, batch: TaskBatch) -> str:
    return text(client, f"/admin/punctual/taskbatch/{batch.batch_no}/change/")


def test_a_worker_is_drained_once_with_a_reason_and_taken_up_again(operator, worker):
    assert "finishes what it has and takes no more" in text(operator, DRAIN)
    assert operator.post(DRAIN, {"reason": ""}).status_code == 400
    assert not Node.objects.exclude(drained_at=None).exists()

    for _ in range(2):
        assert operator.post(DRAIN, {"reason": SCRIPT}).status_code == 302

    assert deeds().filter(verb="drain", subject="worker host:1").count() == 1
    page = text(operator, WORKER)
    assert "Drained at" in page and "It still runs 1 batch." in page and "Take batches again …" in page
    assert "<script>alert" not in page
    assert "<td>drained</td>" in row_of(text(operator), "host:1")

    assert operator.post(f"{WORKER}resume/", {"reason": "it stays"}).status_code == 302
    assert "Drain …" in text(operator, WORKER)


def test_who_may_only_look_drains_nobody_and_an_unknown_worker_is_nowhere(viewer, operator, worker):
    assert viewer.get(DRAIN).status_code == viewer.post(DRAIN, {"reason": "x"}).status_code == 403
    assert operator.post(f"{FLEET}worker/nobody/drain/", {"reason": "x"}).status_code == 404
    assert operator.get(f"{FLEET}worker/nobody/").status_code == 404
    assert operator.get(f"{WORKER}explode/").status_code == 404
    assert viewer.get(f"{WORKER}?until=yesterday").status_code == 400
    assert viewer.get(f"{WORKER}?until=2026-13-77T00:00:00Z").status_code == 400
    assert viewer.get(f"{WORKER}?what=ever").status_code == 400
    assert not Node.objects.exclude(drained_at=None).exists()


def test_a_fleet_of_several_versions_is_told(viewer, beats):
    assert "Not all have the same version" not in text(viewer)
    Node.objects.update(version="0.1.0")
    Node.objects.filter(name="worker-1").update(version="0.0.9")

    assert "Not all have the same version: 0.1.0 (2 processes), 0.0.9 (1 process)." in text(viewer)

"""What a row tells of its tries: the one that is under way is never mixed up with the one before it."""

import re
from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import F

from django_punctual import Operator, cancel, cancel_tasks, find, find_many, history, reschedule, retry_tasks, schedule
from tasks_app.core.task import Succeeded
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.past import move_batches, move_strays
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.models import DlqEntry, PastBatch, PastTask, ScheduleTask, TaskBatch
from tests.support.api import Api
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import batch_row, expire_lease, make_due, row, run_due
from tests.support.jobs import instances, make
from tests.support.live import a_beat_is_alive, a_worker_is_alive
from tests.support.moves import FINAL, OK, RETRY, SKIP, TUESDAY, TYPE, claim_one, dead, settled, started

pytestmark = pytest.mark.django_db

PAGE = "/admin/punctual/scheduletask/{}/change/"


@pytest.fixture
def viewer():
    return client_of(person("vera", "punctual.view_scheduletask", "punctual.view_jobdefinition"))


def long_ago(task_id: int) -> ScheduleTask:
    """Its last try was an hour ago, and now it is due again."""
    hour = timedelta(hours=1)
    ScheduleTask.objects.update(start_time=F("start_time") - hour, finish_time=F("finish_time") - hour)
    make_due(task_id)
    return row(task_id)


def failed_before() -> int:
    batch = started("a")
    settled(batch, RETRY)
    return long_ago(batch.tasks[0].id).id


def test_a_claimed_task_has_neither_begun_nor_failed_whatever_the_try_before_it_did():
    task_id = failed_before()
    number = claim_one()

    task = find(TYPE, "a")

    assert (task.status, task.start_time, task.finish_time, task.late) == ("RUNNING", None, None, None)
    assert task.claimed_at == batch_row(str(number)).claimed_at
    assert (task.error_code, task.error_msg, task.last_error) == ("", "", ("BROKEN", "asked to fail"))
    assert [(one.task_id, one.error_code) for one in history(TYPE, "a")[1]] == [(task_id, "BROKEN")]


def test_a_running_task_began_when_its_batch_did():
    failed_before()
    number = claim_one()
    start(number, "w1")
    began = batch_row(str(number)).started_at

    for task in (find(TYPE, "a"), find_many([TYPE], ["a"])[TYPE, "a"], history(TYPE, "a")[0][0]):
        assert (task.start_time, task.finish_time, task.worker) == (began, None, "w1")
        assert (task.error_code, task.last_error.code) == ("", "BROKEN")


def test_what_failed_says_so_until_it_is_tried_again():
    batch = started("a")
    settled(batch, RETRY)
    task = find(TYPE, "a")
    assert (task.status, task.error_code, task.last_error.code) == ("FAIL", "BROKEN", "BROKEN")
    assert task.start_time == row(task.id).start_time and task.finish_time == row(task.id).finish_time
    make_due(task.id)
    settled(start(claim_one(), "w"), OK)
    assert (find(TYPE, "a").error_code, find(TYPE, "a").last_error) == ("", None)


def test_a_dead_task_that_starts_anew_has_not_failed_yet():
    batch = started("a")
    settled(batch, FINAL)
    assert find(TYPE, "a").error_code == "HOPELESS"

    retry_tasks([batch.tasks[0].id], Operator("olga", "enough"))

    task = find(TYPE, "a")
    assert (task.status, task.error_code, task.last_error.code) == ("INIT", "", "HOPELESS")


def test_a_rolling_task_that_runs_does_not_show_the_round_before():
    batch = started("a", repeat_after=60)
    settled(batch)
    long_ago(batch.tasks[0].id)
    assert find(TYPE, "a").finish_time is not None
    start(claim_one(), "w")

    task = find(TYPE, "a")

    assert (task.finish_time, task.last_error, task.late) == (None, None, None)
    assert task.start_time == TaskBatch.objects.get(batch_no=row(task.id).batch_no).started_at


def test_a_task_whose_worker_died_began_when_that_try_did():
    task_id = failed_before()
    number = claim_one()
    began = datetime.fromtimestamp(start(number, "w1").started).astimezone()
    expire_lease(str(number))
    reap()

    task = find(TYPE, "a")

    assert (task.id, task.status, task.error_code) == (task_id, "FAIL", "LOST")
    assert abs(task.start_time - began) < timedelta(milliseconds=1) < task.finish_time - task.start_time


CANCELS = {
    "by key": lambda task: cancel(TYPE, "a"),
    "by id": lambda task: cancel_tasks([task], Operator("olga", "enough")),
    "superseded": lambda task: reschedule(TYPE, "a", at=TUESDAY),
}


@pytest.mark.parametrize("how", CANCELS.values(), ids=CANCELS)
@pytest.mark.parametrize("begun", [True, False])
def test_what_was_cancelled_while_it_ran_has_the_times_of_that_run(how, begun):
    task_id = failed_before()
    number = claim_one()
    if begun:
        start(number, "w1")

    how(task_id)

    after = row(task_id)
    assert after.status == "CANCELLED"
    assert after.start_time == batch_row(str(number)).started_at
    assert after.finish_time >= batch_row(str(number)).claimed_at


def test_what_was_cancelled_while_it_waited_had_no_run():
    task_id = failed_before()

    cancel(TYPE, "a")

    assert (row(task_id).start_time, row(task_id).finish_time > row(task_id).created_at) == (None, True)


def test_what_its_handler_skipped_began_and_what_expired_did_not():
    settled(started("a"), RETRY)
    task_id = long_ago(row(find(TYPE, "a").id).id).id
    ScheduleTask.objects.filter(id=task_id).update(payload={"do": "skip"})
    run_due()
    skipped = row(task_id)
    assert skipped.status == "CANCELLED"
    assert timedelta(0) <= skipped.finish_time - skipped.start_time < timedelta(minutes=1)

    expired = schedule(TYPE, "b", expires_after=1).task_id
    ScheduleTask.objects.filter(id=expired).update(execute_time="2026-01-01T00:00Z", start_time="2026-01-01T00:00Z")
    run_due()
    assert (row(expired).error_code, row(expired).start_time) == ("EXPIRED", None)


@pytest.fixture
def at_once(settings):
    """Whatever is over goes to the past when it is asked to, however short ago it ended."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.000001}


TRAIL = ("batch", "worker", "attempts", "was_due_at", "allowed_at", "start_time", "finish_time", "result", "status")


def trail(task_id: int) -> dict:
    """What the API tells of it, and `find` too."""
    told = {name: value for name, value in Api().get(f"/tasks/{task_id}").body.items() if name in TRAIL}
    task = find(TYPE, "a")
    assert (str(task.batch), task.worker, task.result) == (told["batch"], told["worker"], told["result"])
    return told


@pytest.mark.parametrize(
    ("outcome", "status", "attempts"),
    [(Succeeded('{"pages": 3}'), "SUCCESS", 1), (OK, "SUCCESS", 1), (SKIP, "CANCELLED", 0)],
)
def test_what_is_over_tells_the_same_before_and_after_it_is_moved(viewer, at_once, outcome, status, attempts):
    batch = started("a")
    settled(batch, outcome)
    task_id = batch.tasks[0].id
    live, page = trail(task_id), viewer.get(PAGE.format(task_id)).content.decode()

    assert move_batches().tasks == 1

    assert trail(task_id) == live
    assert (live["batch"], live["worker"], live["status"]) == (str(batch.batch_no), "worker", status)
    assert (live["attempts"], live["result"]) == (attempts, {"pages": 3} if isinstance(outcome, Succeeded) else None)
    for told in (page, viewer.get(PAGE.format(task_id)).content.decode()):
        assert re.search(rf'{batch.batch_no}</a>, on <a href="[^"]+/worker/worker/[^"]*">worker</a>', told)
        assert ("&quot;pages&quot;" in told) == isinstance(outcome, Succeeded)


def test_the_worker_in_the_past_is_the_one_of_the_last_run_whichever_batch_takes_the_task_along(at_once):
    """The first batch goes on after its task has failed, run again in another and succeeded, and ends last."""
    first = started("a", "b")
    settled(first, RETRY, only="a", finish=False)
    task_id = first.tasks[0].id
    make_due(task_id)
    settled(start(claim_one(), "w2"), OK)
    live = trail(task_id)
    TaskBatch.objects.filter(finished_at__isnull=False).update(
        finished_at=None, lease_until=TUESDAY
    )  # somebody holds it
    settled(first, OK, only="b")

    assert move_batches().tasks == 2

    assert PastTask.objects.get(id=task_id).worker is None
    assert (live["worker"], trail(task_id)) == ("w2", live)


def test_the_worker_of_a_stray_is_taken_along_so_that_it_outlives_its_batch(at_once):
    batch = started("a")
    settled(batch, RETRY)
    cancel(TYPE, "a", reason="enough")
    task_id = batch.tasks[0].id
    live = trail(task_id)
    TaskBatch.objects.update(ids=[])

    assert (move_strays(0).tasks, move_batches().batches) == (1, 1)

    assert (PastTask.objects.get(id=task_id).worker, trail(task_id)) == ("worker", live)
    PastBatch.objects.all().delete()
    assert trail(task_id) == live


def test_what_a_limit_or_a_paused_lane_held_back_tells_when_it_could_start():
    batch = started("a")
    task_id, later = batch.tasks[0].id, row(batch.tasks[0].id).claimed_due + timedelta(milliseconds=1)
    TaskBatch.objects.update(allowed_at=later)
    running = trail(task_id)
    settled(batch, OK)

    for told in (running, trail(task_id)):
        assert datetime.fromisoformat(told["was_due_at"]) == row(task_id).claimed_due.replace(
            microsecond=row(task_id).claimed_due.microsecond // 1000 * 1000
        )
        assert datetime.fromisoformat(told["allowed_at"]) - datetime.fromisoformat(told["was_due_at"]) <= timedelta(
            milliseconds=2
        )


def test_the_api_tells_the_run_that_is_under_way():
    task_id = failed_before()
    api = Api()
    assert api.get(f"/tasks/{task_id}").body["error_code"] == "BROKEN"
    number = claim_one()
    claimed = api.get(f"/tasks/{task_id}").body
    start(number, "w1")
    [listed] = api.get("/tasks").body["items"]

    assert (claimed["start_time"], claimed["finish_time"], claimed["error_code"]) == (None, None, "")
    assert claimed["last_error"] == {"code": "BROKEN", "message": "asked to fail"}
    began = batch_row(str(number)).started_at
    assert abs(datetime.fromisoformat(listed["start_time"]) - began) < timedelta(milliseconds=1)
    assert (listed["finish_time"], listed["error_msg"]) == (None, "")


def test_the_history_of_a_job_tells_it_too(viewer):
    job = make(every=50)
    task = instances(job)[0]
    make_due(task.id)
    settled(start(claim_one(), "w"), RETRY)
    old = long_ago(task.id)
    start(claim_one(), "w1")

    listed = Api().get(f"/jobs/{job.id}/instances?status=RUNNING").body["items"][0]
    page = viewer.get(f"/admin/punctual/jobdefinition/{job.id}/change/").content.decode()

    assert (listed["finish_time"], listed["error_code"], listed["last_error"]["code"]) == (None, "", "BROKEN")
    assert f"{old.start_time:%H:%M:%S}" not in page
    assert f"{TaskBatch.objects.get(finished_at=None).started_at:%H:%M:%S}" in page


def test_the_page_of_a_task_tells_what_is_under_way_and_what_failed_before(viewer):
    task_id = failed_before()
    number = claim_one()

    claimed = viewer.get(PAGE.format(task_id)).content.decode()
    assert re.search(r"Queued</span> It was claimed [0-9.]+ [a-z]+ ago, and waits for a worker.", claimed)
    assert "RUNNING</span>" not in claimed and "The run under way" not in claimed
    assert "Last run" not in claimed and "Last finished" not in claimed
    assert "Its last try failed:" in claimed and "asked to fail" in claimed

    start(number, "w1")
    page = viewer.get(PAGE.format(task_id)).content.decode()
    assert "It is running on w1." in page
    assert page.count("RUNNING</span>") == 1 and "The run under way" in page
    assert f"{batch_row(str(number)).started_at:%H:%M:%S}" in page


def test_a_claimed_task_is_queued_in_lists_on_the_page_of_its_batch_and_in_commands(viewer):
    task_id = schedule(TYPE, "a").task_id
    make_due(task_id)
    number = claim_one()
    pages = ["/admin/punctual/scheduletask/", f"/admin/punctual/taskbatch/{number}/change/"]

    def told() -> list[str]:
        commands = (("--key", "a"), ("--unit", TYPE, "a"))
        return [viewer.get(one).content.decode() for one in pages] + [of_history(*options) for options in commands]

    assert all("Queued" in one and "RUNNING" not in one.partition("<table")[2] for one in told())
    start(number, "w1")
    assert all("RUNNING" in one and "Queued" not in one for one in told())


def died_again() -> int:
    """It gave up at once, was replayed, failed once more to be retried, and gave up again."""
    batch = started("a")
    settled(batch, FINAL)
    task_id = batch.tasks[0].id
    retry_tasks([task_id], Operator("olga", "the bank is back"))
    make_due(task_id)
    settled(start(claim_one(), "w2"), RETRY)
    make_due(task_id)
    settled(start(claim_one(), "w3"), FINAL)
    return task_id


def test_the_page_of_a_replayed_task_groups_its_tries_and_its_counts_agree(viewer):
    task_id = died_again()

    page = viewer.get(PAGE.format(task_id) + "?why=1").content.decode()

    tries = page.partition("<h2>Tries</h2>")[2].partition("</section>")[0]
    parts = re.findall(r"<h3>[^<]+</h3>|<strong>Try \d</strong>", tries)
    at = DlqEntry.objects.get(replay_status="REPLAYED").closed_at
    assert parts == [
        f"<h3>After the replay at {at:%Y-%m-%d %H:%M:%S} UTC by olga</h3>",
        "<strong>Try 2</strong>",
        "<strong>Try 1</strong>",
        "<h3>Before any replay</h3>",
        "<strong>Try 1</strong>",
    ]
    assert "It gave up after 2 failed tries since its last replay, 3 in all." in page
    assert "It gave up after 2 failures since its last replay, 3 in all: " in page
    assert "2 since its last replay, 3 in all;" in page
    assert "replayed by olga" in page
    assert "the bank is back" in page.partition("<h2>What people did</h2>")[2]


def test_a_task_that_was_just_replayed_has_no_try_since(viewer):
    [task_id] = dead("a")
    retry_tasks([task_id], Operator("olga", "the bank is back"))

    page = viewer.get(PAGE.format(task_id)).content.decode()

    tries = page.partition("<h2>Tries</h2>")[2].partition("</section>")[0]
    assert re.findall(r"by olga</h3>|None that has ended|Before any replay|Try 1", tries) == [
        "by olga</h3>",
        "None that has ended",
        "Before any replay",
        "Try 1",
    ]
    make_due(task_id)
    settled(start(claim_one(), "w2"), OK)
    tries = viewer.get(PAGE.format(task_id)).content.decode().partition("<h2>Tries</h2>")[2].partition("</section>")[0]
    assert re.findall(r"by olga</h3>|SUCCESS|Before any replay|Try 1", tries) == [
        "by olga</h3>",
        "SUCCESS",
        "Before any replay",
        "Try 1",
    ]


def test_tries_of_a_replay_whose_dead_letter_is_gone_are_still_told_apart(viewer):
    task_id = died_again()
    DlqEntry.objects.filter(replay_status="REPLAYED").delete()

    page = viewer.get(PAGE.format(task_id)).content.decode()

    assert re.findall(r"<h3>[^<]+</h3>", page.partition("<h2>Tries</h2>")[2].partition("</section>")[0]) == [
        "<h3>After a replay</h3>",
        "<h3>Before any replay</h3>",
    ]


def test_the_api_says_which_replay_a_try_came_after():
    task_id = died_again()
    at = DlqEntry.objects.get(replay_status="REPLAYED").closed_at

    tries = Api().get(f"/tasks/{task_id}/attempts").body["items"]

    assert [(one["attempt"], one["replayed_at"] is not None) for one in tries] == [(2, True), (1, True), (1, False)]
    assert abs(datetime.fromisoformat(tries[0]["replayed_at"]) - at) < timedelta(milliseconds=1)


def test_the_page_of_a_dead_letter_names_the_replay_among_what_people_did(viewer):
    died_again()
    closed, opened = DlqEntry.objects.order_by("id")
    where = "/admin/punctual/dlqentry/{}/change/"

    page = viewer.get(where.format(closed.id)).content.decode()
    assert "It was replayed" in page
    assert "the bank is back" in page.partition("<h2>What people did</h2>")[2]
    assert "Nothing yet." in viewer.get(where.format(opened.id)).content.decode()


def of_history(*options: str) -> str:
    out = StringIO()
    call_command("history", *options, stdout=out)
    return out.getvalue()


def test_why_tells_what_runs_now_and_what_failed_before():
    a_beat_is_alive()
    a_worker_is_alive("default")
    task_id = failed_before()
    number = claim_one()
    before = "1 try failed before, with BROKEN."
    assert re.match(r"It has been queued for [0-9.]+ [a-z]+: it was claimed at ", why_task(row(task_id)).words)
    assert why_task(row(task_id)).words.endswith(f", and waits for a worker. {before}")
    start(number, "w1")

    reason = why_task(row(task_id))

    assert reason.rule == "running" and reason.words.endswith(f" on w1. {before}")

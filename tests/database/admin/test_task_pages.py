"""The pages of tasks, asked as a browser would and by hand: what they show, who may do what, and bad input."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from django_punctual import (
    Link,
    Operator,
    cancel_tasks,
    move_tasks,
    register_link,
    reschedule,
    schedule,
)
from tasks_app.core.links import LINKS
from tasks_app.engine.watch import task_events
from tasks_app.lifecycle.logs import Lines, keep_logs
from tasks_app.lifecycle.past import move_batches
from tasks_app.lifecycle.progress import Told, tell_progress
from tasks_app.models import (
    AuditEntry,
    OutboxWindow,
    SavedFilter,
    ScheduleTask,
    TaskAttempt,
    TaskBatch,
    TaskProgress,
)
from tests.support.clients import looked_at, page
from tests.support.engine import claim_due, run_due
from tests.support.events import told
from tests.support.jobs import by, instances, make
from tests.support.moves import MONDAY, away, dead, scheduled, started, state

pytestmark = pytest.mark.django_db

LIST = "/admin/punctual/scheduletask/"
SCRIPT = "<script>alert(1)</script>"


def test_the_list_shows_tasks_and_filters_them(viewer):
    dead("gone")
    scheduled("later", at=MONDAY)

    assert "later" in (whole := page(viewer, LIST))
    assert "gone" in whole
    assert "later" not in (filtered := page(viewer, LIST, state="DEAD", type="T_QUIET"))
    assert "gone" in filtered
    assert "later" in page(viewer, LIST, since="2090-01-02T08:00", until="2090-01-02T10:00")
    assert "No task matches" in page(viewer, LIST, key="nobody")


def test_every_next_page_is_linked_until_the_last(viewer):
    scheduled(*(f"k-{n:03}" for n in range(120)), at=MONDAY)
    seen, path = set(), LIST

    for _ in range(3):
        answer = viewer.get(path)
        seen |= {task.id for task in answer.context["tasks"]}
        path = f"{LIST}?after={answer.context['next']}"

    assert len(seen) == 120
    assert answer.context["next"] == ""


def test_a_number_sign_and_an_id_open_the_task(viewer):
    [task_id] = scheduled("a", at=MONDAY)

    assert viewer.get(LIST, {"key": f"#{task_id}"}).url == f"{LIST}{task_id}/change/"


def test_a_page_tells_all_of_a_task(viewer):
    schedule("T_QUIET", "a", payload={"do": "crash", "message": f"the bug {SCRIPT}"})
    run_due()
    task = ScheduleTask.objects.get()
    cancel_tasks([task.id], Operator("olga", "enough of it"))
    newer = schedule("T_QUIET", "a", at=MONDAY).task_id

    text = page(viewer, f"{LIST}{task.id}/change/")

    for word in ("the bug", "KeyError", "handlers.py", "enough of it", str(newer)):
        assert word in text
    assert "<details><summary>Stack</summary>" in text  # folded
    assert SCRIPT not in text


@pytest.mark.parametrize("task_type", ["T_QUIET", SCRIPT], ids=["known type", "unknown type"])
def test_a_script_is_shown_and_not_run(viewer, task_type):
    """In the key, the payload, the error and the reason; and in the type of what nobody handles any more."""
    schedule("T_QUIET", SCRIPT, payload={"do": "retry", "after": 60, "message": SCRIPT})
    run_due()
    task = ScheduleTask.objects.get()
    cancel_tasks([task.id], Operator("olga", SCRIPT))
    ScheduleTask.objects.update(task_type=task_type)

    of_the_task, *others = (
        page(viewer, f"{LIST}{task.id}/change/"),
        page(viewer, LIST),
        page(viewer, "/admin/"),
        page(viewer, "/admin/punctual/auditentry/"),
        page(viewer, LIST, key=SCRIPT, type=SCRIPT),
    )
    assert "&lt;script&gt;" in of_the_task
    assert not any(SCRIPT in text for text in (of_the_task, *others))


def test_a_script_in_a_result_is_shown_and_not_run(viewer):
    task_id = schedule("T_QUIET", "a", payload={"return": {"note": SCRIPT}}).task_id
    run_due()

    text = page(viewer, f"{LIST}{task_id}/change/")

    assert "<summary>Result</summary>" in text
    assert SCRIPT not in text and "&lt;script&gt;" in text


def test_a_task_links_to_what_it_is_about(viewer):
    [task_id] = scheduled("4/2", at=MONDAY)
    register_link("T_QUIET", make := lambda key: Link(f"/things/{key}/", f"Thing {key}"))
    try:
        text = page(viewer, f"{LIST}{task_id}/change/")
    finally:
        LINKS.discard("T_QUIET")

    assert make("x").url == "/things/x/"
    assert '<a href="/things/4/2/">Thing 4/2</a>' in text


@pytest.mark.parametrize("path", ["99999999", "abc", "9" * 40, "-1"])
def test_a_task_that_is_not_there_is_not_found(viewer, path):
    page(viewer, f"{LIST}{path}/change/", code=404)


BAD_FILTERS = [
    {"state": "SLEEPING"},
    {"lane": "fast"},
    {"since": "yesterday"},
    {"since": "0001-01-01T00:00"},
    {"since": "2090-01-02T08:00", "until": "2090-01-01T08:00"},
    {"key": "x" * 10_000},
    {"key": "a\0b"},
    {"type": "a\0b"},
]


def test_a_bad_filter_is_told_and_finds_nothing(viewer):
    for query in BAD_FILTERS:
        answer = viewer.get(LIST, query)

        assert answer.status_code == 200, query
        assert answer.context["found"] is None, query
        assert b'role="alert"' in answer.content, query


def test_the_list_is_narrowed_to_a_tenant_and_to_a_job(viewer):
    schedule("T_QUIET", "acmes-own", delay=3600, tenant="acme")
    job = make("report")
    [instance, *_] = instances(job)

    assert "acmes-own" in page(viewer, LIST, tenant="acme")
    assert "acmes-own" not in page(viewer, LIST, tenant="default")
    assert instance.biz_key in page(viewer, LIST, job=job.id)
    assert instance.biz_key not in page(viewer, LIST, tenant="acme", job=job.id)


@pytest.mark.parametrize("after", ["x", "-1", "0:abc", "-1:5", "0:", "9999999999:5", "0:99999999999999999999999999"])
def test_a_place_that_is_none_is_refused(viewer, after):
    page(viewer, LIST, code=400, after=after)


@pytest.mark.parametrize("path", [LIST, f"{LIST}1/change/", "/admin/punctual/taskbatch/"])
def test_without_the_right_to_view_there_is_nothing_to_see(stranger, path):
    page(stranger, path, code=403)


def test_without_the_right_to_view_the_first_page_has_no_overview(stranger):
    assert "data-topics" not in page(stranger, "/admin/")


def test_who_may_only_look_is_offered_no_action(viewer, operator):
    [task_id] = scheduled("a", at=MONDAY)

    for path in (LIST, f"{LIST}{task_id}/change/"):
        assert 'name="verb"' not in page(viewer, path)
        assert 'name="verb"' in page(operator, path)


def test_nobody_adds_changes_or_deletes_a_task_in_a_form(operator):
    [task_id] = scheduled("a", at=MONDAY)

    assert operator.post(f"{LIST}{task_id}/delete/", {"post": "yes"}).status_code == 403
    assert operator.get(f"{LIST}add/").status_code == 403
    operator.post(f"{LIST}{task_id}/change/", {"status": "SUCCESS"})
    assert state(task_id).status == "INIT"


def test_a_filter_is_saved_under_a_name_found_again_and_removed_by_whoever_saved_it(viewer, operator, monkeypatch):
    saved = f"{LIST}saved/"
    assert "Save this filter as" not in page(viewer, LIST)
    given = {"page": "tasks", "query": "state=DEAD&type=T_QUIET&after=7&secret=x", "name": "my dead <ones>"}

    for _ in range(2):
        answer = viewer.post(saved, given)
        assert (answer.status_code, answer.url) == (302, f"{LIST}?state=DEAD&type=T_QUIET")

    row = SavedFilter.objects.get()
    assert (row.query, row.tenant, row.page) == ("state=DEAD&type=T_QUIET", None, "tasks")
    listed = page(viewer, LIST)
    assert 'href="?state=DEAD&amp;type=T_QUIET"' in listed and "my dead &lt;ones&gt;" in listed
    assert "my dead" not in page(operator, LIST) and "my dead" not in page(viewer, "/admin/punctual/dlqentry/")
    assert viewer.post(saved, given | {"query": "state=FAIL"}).status_code == 302  # takes its place
    assert SavedFilter.objects.get().query == "state=FAIL"
    for bad in ({"name": ""}, {"name": "x" * 61}, {"name": "a\nb\x07"}, {"page": "users"}, {"query": "state=NONE"}):
        assert viewer.post(saved, given | bad).status_code == 400, bad
    assert viewer.post(saved, given | {"page": "jobs", "query": "name=a"}).status_code in (400, 403)
    monkeypatch.setattr("tasks_app.console.saved.MOST", 1)
    assert "remove one first" in viewer.post(saved, given | {"name": "b"}, follow=True).content.decode()
    assert operator.post(f"{saved}{row.id}/remove/").status_code == 404
    assert viewer.get(f"{saved}{row.id}/remove/").status_code == 405
    viewer.post(f"{saved}{row.id}/remove/")
    assert not SavedFilter.objects.exists()


def test_a_filter_that_is_too_long_to_be_kept_is_not_offered_and_refused(viewer):
    asked = {"key": "😀" * 201}
    assert "Save this filter as" in page(viewer, LIST, key="字" * 190)
    assert "Save this filter as" not in page(viewer, LIST, key="😀" * 190)
    posted = {"page": "tasks", "query": f"key={asked['key']}", "name": "mine"}
    assert viewer.post(f"{LIST}saved/", posted).status_code == 400
    assert not SavedFilter.objects.exists()


def test_a_batch_shows_its_tasks_and_bad_numbers_are_not_found(viewer):
    scheduled("in it")
    [batch] = claim_due()

    assert "in it" in page(viewer, f"/admin/punctual/taskbatch/{batch.batch_no}/change/")
    assert batch.batch_no[:8] in page(viewer, "/admin/punctual/taskbatch/")
    page(viewer, "/admin/punctual/taskbatch/nonsense/change/", code=404)
    page(viewer, f"/admin/punctual/taskbatch/{uuid4()}/change/", code=404)


def test_every_page_carries_the_policy(viewer):
    for path in ("/admin/", LIST, "/admin/login/"):
        headers = viewer.get(path).headers
        assert "script-src 'self';" in headers["Content-Security-Policy"]  # nothing inline, and no eval
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"


def test_a_task_and_the_effect_it_deferred_link_to_each_other(viewer):
    effect = {"task_type": "T_QUIET", "key": SCRIPT, "for_": 3600, "payload": {"do": "retry"}}
    order = schedule("T_PLAIN", "order", payload={"defer": [effect]}).task_id
    run_due()
    [capture] = ScheduleTask.objects.get(id=order).deferred

    of_order = page(viewer, f"{LIST}{order}/change/")
    of_capture = page(viewer, f"{LIST}{capture}/change/")

    assert "Effects it deferred" in of_order and f'href="{LIST}{capture}/change/"' in of_order
    assert f'href="{LIST}{order}/change/">task {order}</a>, T_PLAIN <bdi>order</bdi>' in of_capture
    assert "gives up 60 min after the time it is scheduled for" in of_capture
    assert SCRIPT not in of_order + of_capture

    run_due()
    assert "it is retried for another" in page(viewer, f"{LIST}{capture}/change/")


def test_an_effect_that_was_there_already_or_is_no_longer_kept_is_told(viewer):
    there = schedule("T_QUIET", "capture", at=MONDAY).task_id
    order = schedule("T_PLAIN", "order", payload={"defer": [{"task_type": "T_QUIET", "key": "capture"}]}).task_id
    run_due()

    assert "which was scheduled already" in page(viewer, f"{LIST}{order}/change/")

    ScheduleTask.objects.filter(id=there).delete()
    assert "which is no longer kept" in page(viewer, f"{LIST}{order}/change/")


def running(*lines: str, note: str = "page 4") -> int:
    batch = started("long")
    [task] = batch.tasks
    tell_progress(batch.batch_no, [Told(task.id, 0.4, note)])
    keep_logs(batch.batch_no, [Lines(task.id, 1, 3, [(1_800_000_000.25, "WARNING", line) for line in lines])])
    return task.id


def test_the_page_of_a_task_that_runs_shows_how_far_it_is_and_asks_again(viewer):
    task_id = running("no title", SCRIPT, note=SCRIPT)

    whole, look = page(viewer, f"{LIST}{task_id}/change/"), looked_at(viewer, f"{LIST}{task_id}/change/")

    assert 'data-topics="clock"' in whole and "data-topics" not in look
    for text in (whole, look):
        assert SCRIPT not in text
        assert re.search(r'<progress[^>]+value="0.4000"[^>]+aria-label="Progress of this run"', text)
        assert "40 %, &lt;script&gt;" in text
        assert "3 lines before these were dropped" in text
        assert "<strong>WARNING</strong> <bdi>no title</bdi>" in text
        assert re.search(r'<ol class="pu-log pu-scroll" tabindex="0" aria-label="Log of try 1"', text)
        assert "08:00:00.250" in text


def test_the_page_keeps_the_lines_of_a_run_that_is_over(viewer):
    task_id = running("no title")
    cancel_tasks([task_id], Operator("olga", "not wanted"))

    whole = page(viewer, f"{LIST}{task_id}/change/")
    assert "What its tries have logged" in whole and "no title" in whole
    assert "<progress" not in whole


def test_the_page_of_a_task_that_is_away_shows_how_far_it_is_elsewhere(viewer):
    [task] = away("elsewhere").tasks
    TaskProgress.objects.create(task=task.id, fraction=0.4, note="page 4")

    whole = page(viewer, f"{LIST}{task.id}/change/")

    assert "40 %, page 4" in whole


def test_a_run_that_tells_nothing_says_so_and_strangers_see_none_of_it(viewer, stranger):
    [task] = started("quiet").tasks

    assert "It has not reported any progress" in page(viewer, f"{LIST}{task.id}/change/")
    assert "What earlier tries have logged" not in page(viewer, f"{LIST}{task.id}/change/")
    assert stranger.get(f"{LIST}{task.id}/change/", headers={"Punctual-Live": "1"}).status_code in (302, 403)
    assert viewer.get(f"{LIST}987654321/change/", headers={"Punctual-Live": "1"}).status_code == 404


def test_the_life_of_a_task_is_told_with_all_its_tries_and_where_each_leads(viewer, settings):
    logs = "https://logs.example.com/?task={task}&pid={pid}&from={from}"
    settings.PUNCTUAL = settings.PUNCTUAL | {"LOG_URL": logs}
    task = schedule("T_QUIET", "a&b", payload={"do": "retry", "after": 0}).task_id
    run_due()
    ScheduleTask.objects.filter(id=task).update(payload={})
    move_tasks([task], timezone.now() - timedelta(seconds=1), by("earlier", "olga"))
    run_due()

    answer = viewer.get(f"{LIST}{task}/change/")
    page = " ".join(answer.content.decode().split())

    told = [mark.moment.words.split(" to ")[0].split(":")[0] for mark in answer.context["life"].marks]
    assert told.index("created") < told.index("try 1 started") < told.index("try 1 failed") < told.index("moved")
    assert told.index("moved") < told.index("started") < told.index("succeeded") == len(told) - 1
    assert [mark.number for mark in answer.context["life"].runs] == [
        told.index(one) + 1 for one in ("try 1 started", "started")
    ]
    [failed], done = TaskAttempt.objects.all(), ScheduleTask.objects.get(id=task)
    for batch in (failed.batch_no, done.ran_in):
        assert f'href="/admin/punctual/taskbatch/{batch}/change/"' in page
    assert page.count("https://logs.example.com/?task=") == 2
    assert f'href="https://logs.example.com/?task={task}&amp;pid=' in page
    assert page.count("/admin/punctual/node/worker/") >= 2
    entry = AuditEntry.objects.get(task_id=task)
    assert f'href="/admin/punctual/auditentry/{entry.id}/change/"' in page


@pytest.mark.parametrize("windows", ["none yet", "of some rows", "of all rows"])
def test_a_task_leads_to_its_events_and_an_event_to_its_task_also_in_the_past(viewer, windows):
    task = schedule("T_PLAIN", "a", delay=3600, payload={"do": "die"}).task_id
    schedule("T_QUIET", "b", delay=3600)
    reschedule("T_QUIET", "b", delay=60)
    reschedule("T_PLAIN", "a", delay=0)
    run_due()
    of_it = [event for event in told() if event.task == task]
    assert {"task.updated", "task.dead"} <= {event.type for event in of_it}
    if windows != "none yet":
        last = of_it[0].row if windows == "of some rows" else of_it[-1].row
        OutboxWindow.objects.create(
            no=1, after="1:1:", min_id=1, max_id=last, min_at=of_it[0].time, max_at=of_it[-1].time, count=1, system=1
        )
    where = f"/admin/punctual/scheduletask/{task}/events/"
    assert f'href="{where}"' in viewer.get(f"/admin/punctual/scheduletask/{task}/change/").content.decode()

    answer = viewer.get(where)

    assert (answer.context["found"].events, answer.context["found"].complete) == (of_it, True)
    for event in of_it:
        page = viewer.get(f"/admin/punctual/scheduletask/event/{event.id}/").content.decode()
        assert f'href="/admin/punctual/scheduletask/event/{event.id}/"' in answer.content.decode()
        assert f'href="/admin/punctual/scheduletask/{task}/change/"' in page


def test_events_are_looked_for_around_what_happened_and_up_to_a_bound(viewer, monkeypatch):
    task = schedule("T_QUIET", "a", delay=3600).task_id
    run_due()
    reschedule("T_QUIET", "a", delay=0)
    run_due()
    [*before] = [event for event in told() if event.task == task]
    ScheduleTask.objects.filter(id=task).update(updated_at=timezone.now() - timedelta(days=2))
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(days=1))
    assert move_batches().tasks == 1
    where = f"/admin/punctual/scheduletask/{task}/events/"
    assert viewer.get(where).context["found"].events == before != []
    gone = viewer.get("/admin/punctual/scheduletask/event/999999-1/")
    assert (gone.status_code, "There is no event" in gone.content.decode()) == (404, True)
    assert viewer.get("/admin/punctual/scheduletask/event/drop-table/").status_code == 404

    monkeypatch.setattr(task_events, "MOST_ROWS", 1)
    assert "not all of it was looked at" in viewer.get(where).content.decode()

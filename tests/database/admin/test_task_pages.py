"""The operator's pages, asked as a browser would and by hand: what they show, who may do what, and bad input."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from tasks_app.client import (
    Link,
    Operator,
    cancel_tasks,
    move_tasks,
    register_link,
    reschedule,
    schedule,
    schedule_many,
)
from tasks_app.core.links import LINKS
from tasks_app.engine.watch import audit_browse, task_events
from tasks_app.lifecycle.audit import Entry, audit
from tasks_app.lifecycle.logs import Lines, keep_logs
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.past import move_batches
from tasks_app.lifecycle.progress import Told, tell_progress
from tasks_app.models import (
    AuditEntry,
    Campaign,
    HourFigures,
    OutboxWindow,
    SavedFilter,
    ScheduleTask,
    TaskAttempt,
    TaskBatch,
    TaskProgress,
)
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.campaigns import begun, carried_out
from tests.support.clients import client_of
from tests.support.engine import claim_due, run_due
from tests.support.events import told
from tests.support.jobs import by, instances, make
from tests.support.moves import MONDAY, TUESDAY, away, dead, scheduled, started, state

pytestmark = pytest.mark.django_db

VIEW, OPERATE = "tasks_app.view_scheduletask", "tasks_app.operate_scheduletask"
LIST = "/admin/tasks_app/scheduletask/"
ORDER, RUN = f"{LIST}order/", f"{LIST}order/run/"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def operator():
    return client_of(person("olga", VIEW, OPERATE))


@pytest.fixture
def viewer():
    return client_of(person("vera", VIEW))


@pytest.fixture
def stranger():
    return client_of(person("sam"))


def order(verb: str, ids=(), **more) -> dict:
    given = {"verb": verb, "scope": "chosen", "ids": ",".join(map(str, ids)), "reason": "it has to be"}
    return given | {"operation": str(uuid4())} | more


def page(client: Client, path: str, status: int = 200, **data) -> str:
    answer = client.get(path, data)
    assert answer.status_code == status
    return answer.content.decode()


def looked_at(client: Client, path: str) -> str:
    """What a page that is open asks for."""
    answer = client.get(path, headers={"Punctual-Live": "1"})
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert "Punctual-Live" in answer["Vary"]
    assert b"<html" not in answer.content
    return answer.content.decode()


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
    schedule("T_QUIET", "a", payload={"do": "crash", "message": "the bug"})
    run_due()
    task = ScheduleTask.objects.get()
    cancel_tasks([task.id], Operator("olga", "enough of it"))
    newer = schedule("T_QUIET", "a", at=MONDAY).task_id

    text = page(viewer, f"{LIST}{task.id}/change/")

    for word in ("the bug", "KeyError", "Stack", "handlers.py", "enough of it", str(newer)):
        assert word in text
    assert "<details" in text


@pytest.mark.parametrize("where", ["key", "error", "payload", "reason", "type"])
def test_a_script_is_shown_and_not_run(viewer, where):
    key = SCRIPT if where == "key" else "a"
    schedule("T_QUIET", key, payload={"do": "retry", "after": 60, "message": SCRIPT})
    run_due()
    task = ScheduleTask.objects.get()
    cancel_tasks([task.id], Operator("olga", SCRIPT))
    if where == "type":
        ScheduleTask.objects.update(task_type=SCRIPT)

    for text in (
        page(viewer, f"{LIST}{task.id}/change/"),
        page(viewer, LIST),
        page(viewer, "/admin/tasks_app/auditentry/"),
    ):
        assert SCRIPT not in text
    assert "&lt;script&gt;" in page(viewer, f"{LIST}{task.id}/change/")
    assert SCRIPT not in page(viewer, LIST, key=SCRIPT, type=SCRIPT)


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
    page(viewer, f"{LIST}{path}/change/", status=404)


@pytest.mark.parametrize(
    "query",
    [
        {"state": "SLEEPING"},
        {"lane": "fast"},
        {"since": "yesterday"},
        {"since": "0001-01-01T00:00"},
        {"since": "2090-01-02T08:00", "until": "2090-01-01T08:00"},
        {"key": "x" * 10_000},
        {"key": "a\0b"},
        {"type": "a\0b"},
    ],
)
def test_a_bad_filter_is_told_and_finds_nothing(viewer, query):
    answer = viewer.get(LIST, query)

    assert answer.status_code == 200
    assert answer.context["found"] is None
    assert b'role="alert"' in answer.content


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
    page(viewer, LIST, status=400, after=after)


# ---- rights ----


@pytest.mark.parametrize("path", [LIST, f"{LIST}1/change/", "/admin/tasks_app/taskbatch/"])
def test_without_the_right_to_view_there_is_nothing_to_see(stranger, path):
    page(stranger, path, status=403)


def test_without_the_right_to_view_the_first_page_has_no_overview(stranger):
    assert "data-topics" not in page(stranger, "/admin/")


@pytest.mark.parametrize("verb", ["retry", "cancel", "move"])
@pytest.mark.parametrize("path", [ORDER, RUN])
def test_who_may_only_look_changes_nothing_even_by_hand(viewer, verb, path):
    [task_id] = scheduled("a", at=MONDAY)

    answer = viewer.post(path, order(verb, [task_id], at="2090-01-03T09:00"))

    assert answer.status_code == 403
    assert state(task_id).status == "INIT"
    assert not deeds().exists()


def test_the_right_to_operate_alone_is_not_enough():
    [task_id] = scheduled("a", at=MONDAY)
    client = client_of(person("otto", OPERATE))

    assert client.post(RUN, order("cancel", [task_id])).status_code == 403


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


@pytest.mark.parametrize("path", [ORDER, RUN])
def test_an_order_needs_a_form_of_ours(path):
    client = client_of(person("olga", VIEW, OPERATE), enforce_csrf_checks=True)
    [task_id] = scheduled("a", at=MONDAY)

    assert client.post(path, order("cancel", [task_id])).status_code == 403
    assert client.get(path).status_code == 405
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
    assert "my dead" not in page(operator, LIST) and "my dead" not in page(viewer, "/admin/tasks_app/dlqentry/")
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


# ---- orders ----


def test_a_preview_says_how_many_and_changes_nothing(operator):
    ids = [*dead("a", "b"), *scheduled("c", at=MONDAY)]

    answer = operator.post(ORDER, {"verb": "retry", "scope": "chosen", "ids": ids})

    assert answer.context["button"] == "Retry 2 tasks now"
    assert b"scheduled, and not failed" in answer.content
    assert state(ids[0]).status == "DEAD"
    assert not deeds().exists()


@pytest.mark.parametrize(
    ("verb", "expected"), [("retry", "replayed"), ("cancel", "cancelled"), ("move", "moved")], ids=str
)
def test_an_order_is_carried_out_and_reported(operator, verb, expected):
    ids = dead("a") if verb == "retry" else scheduled("a", at=MONDAY)

    answer = operator.post(RUN, order(verb, ids, at="2090-01-03T09:00"), follow=True)

    assert answer.status_code == 200
    entry = deeds().get()
    assert (entry.actor, entry.verb, entry.outcome, entry.reason) == ("olga", verb, expected, "it has to be")
    assert b"it has to be" in answer.content
    if verb == "move":
        assert ScheduleTask.objects.get().due_at == TUESDAY


def test_everything_that_matches_is_a_campaign_and_nothing_else_is(operator):
    dead("a", "b", "c")
    [other] = scheduled("other", at=MONDAY)
    given = {"verb": "retry", "scope": "matching", "filter": "state=DEAD&type=T_QUIET", "ids": [str(other)]}

    shown = operator.post(ORDER, given)
    assert shown.context["button"] == "Retry 3 tasks now"
    hidden = {field.name: field.value() or "" for field in shown.context["form"].hidden_fields()}
    answers = [operator.post(RUN, hidden | {"reason": "all of them", "rate": "50", "lane": "low"}) for _ in range(2)]

    campaign = Campaign.objects.get()
    assert {answer.url for answer in answers} == {f"/admin/tasks_app/campaign/{campaign.id}/change/"}
    assert (campaign.total, campaign.rate, campaign.options) == (3, 50.0, {"lane": "low"})
    assert (campaign.actor, campaign.selection) == ("olga", "State: Dead, Type: T_QUIET")
    assert ScheduleTask.objects.filter(status="DEAD").count() == 3
    carried_out(campaign)
    assert ScheduleTask.objects.filter(status="DEAD").count() == 0
    assert state(other).due


def test_a_preview_says_how_many_the_cap_leaves_out(operator, monkeypatch):
    monkeypatch.setattr("tasks_app.admin.orders.CAP", 2)
    dead("a", "b", "c")

    shown = operator.post(ORDER, {"verb": "retry", "scope": "matching", "filter": "state=DEAD"})

    assert shown.context["button"] == "Retry 2 tasks now"
    assert b"Only the first 2 of them are taken" in shown.content


def test_too_many_orders_to_retry_are_refused_in_words(operator, monkeypatch):
    monkeypatch.setattr("tasks_app.lifecycle.retry_limit.ORDERS_A_MINUTE", 1)
    dead("a", "b")
    given = {"scope": "matching", "filter": "state=DEAD", "newest": str(ScheduleTask.objects.latest("id").id)}
    given |= {"cap": "5000", "lane": "backfill", "counted": "2"}
    assert operator.post(RUN, order("retry") | given).status_code == 302

    answer = operator.post(RUN, order("retry") | given)

    assert answer.status_code == 429
    assert "Give one order for all of them, or wait. Nothing was changed." in answer.content.decode()
    assert Campaign.objects.count() == 1


def test_an_order_that_is_sent_twice_acts_once(operator):
    ids = dead("a")
    given = order("retry", ids)

    operator.post(RUN, given)
    claim_due()
    again = operator.post(RUN, given)

    assert again.status_code == 302
    assert deeds().count() == 1
    assert state(ids[0]).status == "RUNNING"


# For all that match, which is few enough to need no confirmation.
FEW = {"scope": "matching", "filter": "state=INIT", "counted": "1"}
BAD_ORDERS = [
    {"reason": ""},
    {"reason": "   "},
    {"reason": "x" * 1001},
    {"reason": "a\0b"},
    {"verb": "delete"},
    {"verb": ""},
    {"scope": ""},
    {"scope": "all"},
    {"ids": ""},
    {"ids": "1,x"},
    {"ids": "-4"},
    {"ids": "9" * 30},
    {"ids": ",".join(map(str, range(1, 2000)))},
    {"operation": "not a uuid"},
    {"filter": "state=SLEEPING", "scope": "matching"},
    FEW | {"cap": "0"},
    FEW | {"cap": "1000001"},
    FEW | {"rate": "0"},
    FEW | {"rate": "fast"},
    FEW | {"lane": "none"},
    {"verb": "move", "at": ""},
    {"verb": "move", "at": "tomorrow"},
    {"verb": "move", "at": "9999-99-99T00:00"},
    {"verb": "move", "at": "3026-01-01T00:00"},
    {"verb": "move", "by": "soon"},
    {"verb": "move", "by": "+400d"},
    {"verb": "move", "by": "+2h", "at": "2090-01-03T09:00"},
    {"verb": "move", "by": "+2h", "over": "1h"},
    {"verb": "move", "over": "0s"},
    {"scope": "matching", "filter": "state=INIT"},  # for as many as there may be, and nobody has confirmed it
    {"scope": "matching", "filter": "state=INIT", "counted": "101"},
    {"scope": "matching", "filter": "state=INIT", "counted": "101", "confirm": "100"},
    {"ids": ",".join(map(str, range(1, 102)))},
]


def test_a_bad_order_is_refused_and_changes_nothing(operator):
    [task_id] = scheduled("a", at=MONDAY)

    for bad in BAD_ORDERS:
        answer = operator.post(RUN, order("cancel", [task_id]) | bad)

        assert answer.status_code == 400, bad
        assert state(task_id).status == "INIT", bad
        assert not deeds().exists() and not Campaign.objects.exists(), bad
    assert operator.post(RUN, order("cancel", [task_id]) | FEW).status_code == 302


def test_a_preview_tells_types_lanes_and_the_new_times(operator):
    ids = scheduled("a", "b", at=MONDAY) + scheduled("c", at=TUESDAY, lane="low")
    given = {"verb": "move", "scope": "chosen", "ids": ids}

    shown = operator.post(ORDER, given)
    assert shown.context["kinds"] == [("T_QUIET", "default", 2), ("T_QUIET", "low", 1)]
    assert (shown.context["planned"], shown.context["new_times"]) == ((MONDAY, TUESDAY), None)
    looked = operator.post(ORDER, given | {"look": "1", "by": "+2 h", "reason": "later"})
    assert looked.context["new_times"] == (MONDAY + timedelta(hours=2), TUESDAY + timedelta(hours=2))
    assert 'value="+2 h"' in looked.content.decode() and "later</textarea>" in looked.content.decode()
    assert b"not a length of time" in (bad := operator.post(ORDER, given | {"look": "1", "by": "soon"})).content
    assert (bad.status_code, deeds().exists()) == (400, False)

    everything = {"verb": "move", "scope": "matching", "filter": "type=T_QUIET", "look": "1"}
    spread = operator.post(ORDER, everything | {"over": "3h", "at": "2090-01-03T09:00"})
    assert spread.context["new_times"] == (TUESDAY, TUESDAY + timedelta(hours=2))
    hidden = {field.name: field.value() or "" for field in spread.context["form"].hidden_fields()}
    operator.post(RUN, hidden | {"reason": "spread", "over": "3h", "at": "2090-01-03T09:00"})
    carried_out(Campaign.objects.get())
    assert sorted(ScheduleTask.objects.values_list("due_at", flat=True)) == [
        TUESDAY + timedelta(hours=hours) for hours in range(3)
    ]


def test_an_order_for_many_is_confirmed_by_their_number_and_is_for_no_more(operator, monkeypatch):
    for where in ("orders", "forms"):
        monkeypatch.setattr(f"tasks_app.admin.{where}.CONFIRM_ABOVE", 2)
    scheduled(*"abcd", at=MONDAY)
    everything = {"verb": "cancel", "scope": "matching", "filter": "state=INIT"}

    shown = operator.post(ORDER, everything)
    assert (shown.context["confirm"], b"To confirm it, type 4" in shown.content) == (4, True)
    hidden = {field.name: field.value() or "" for field in shown.context["form"].hidden_fields()} | {"reason": "over"}
    for typed in ("", "3", "yes"):
        refused = operator.post(RUN, hidden | {"confirm": typed})
        assert (refused.status_code, b"nothing was changed" in refused.content) == (400, True)
    # Whoever says that there are three gets three; none who says one.
    assert operator.post(RUN, hidden | {"counted": "3", "confirm": "3"}).status_code == 302
    assert (Campaign.objects.get().total, Campaign.objects.get().more) == (3, True)
    ids = list(ScheduleTask.objects.values_list("id", flat=True))
    assert operator.post(RUN, order("move", ids, by="+1h")).status_code == 400
    assert operator.post(RUN, order("move", ids, by="+1h", confirm="4")).status_code == 302
    assert set(ScheduleTask.objects.values_list("due_at", flat=True)) == {MONDAY + timedelta(hours=1)}


def test_an_order_is_one_row_of_the_audit_with_its_tasks_behind_it_and_is_undone(operator, viewer):
    ids = scheduled("a", "b", at=MONDAY)
    given = order("move", ids, by="+1h")
    for _ in range(2):
        where = operator.post(RUN, given).url
    entries = "/admin/tasks_app/auditentry/"

    [(row, what)] = viewer.get(entries, {"actor": "olga", "verb": "move"}).context["entries"]
    assert (row.subject, row.outcome) == (f"order from task {ids[0]}", "ordered")
    assert (row.detail["tasks"], row.detail["by"]) == (2, 3600)
    assert where in what
    every = viewer.get(entries, {"verb": "move", "each": "on"}).context["entries"]
    assert [entry.subject for entry, _ in every] == [f"task {ids[1]}", f"task {ids[0]}", row.subject]
    assert len(viewer.get(entries, {"task": ids[0]}).context["entries"]) == 1

    assert f"{where}undo/" in page(operator, where) and "undo/" not in page(viewer, where)
    assert viewer.get(f"{where}undo/").status_code == 403
    form = operator.get(f"{where}undo/").context["form"]
    undo = {"operation": str(form["operation"].value()), "reason": "too late"}
    assert operator.post(f"{where}undo/", undo | {"reason": ""}).status_code == 400
    assert len({operator.post(f"{where}undo/", undo).url for _ in range(2)}) == 1
    assert "Undo: 2 of 2 tasks" in page(
        operator, f"/admin/tasks_app/campaign/{carried_out(Campaign.objects.get()).id}/change/"
    )
    assert set(ScheduleTask.objects.values_list("due_at", flat=True)) == {MONDAY}
    assert "has undone it" in page(operator, where) and "undo/" not in page(operator, where)


def test_what_is_a_part_of_an_order_is_shown_where_the_order_is_not(viewer, monkeypatch):
    entries, ids = "/admin/tasks_app/auditentry/", scheduled("a", "b", "c", at=MONDAY)
    ids += scheduled("d", at=MONDAY, tenant="acme")
    carried_out(begun(Verb.CANCEL, ids))

    def subjects(**asked: str) -> list[str]:
        return [entry.subject for entry, _ in viewer.get(entries, asked).context["entries"]]

    assert not {f"task {one}" for one in ids} & set(subjects())
    assert set(subjects(verb="cancel")) == {f"task {one}" for one in ids}  # that of the campaign has another verb
    assert f"task {ids[3]}" in subjects(tenant="acme")  # and is no tenant's
    monkeypatch.setattr(audit_browse, "STRETCH", 2)  # of which the latest have nothing but parts
    assert subjects() != []


def test_a_filter_that_is_too_long_to_be_kept_is_not_offered_and_refused(viewer):
    asked = {"key": "😀" * 201}
    assert "Save this filter as" in page(viewer, LIST, key="字" * 190)
    assert "Save this filter as" not in page(viewer, LIST, key="😀" * 190)
    posted = {"page": "tasks", "query": f"key={asked['key']}", "name": "mine"}
    assert viewer.post(f"{LIST}saved/", posted).status_code == 400
    assert not SavedFilter.objects.exists()


def test_an_order_without_a_choice_says_so(operator):
    scheduled("a", at=MONDAY)

    answer = operator.post(ORDER, {"verb": "cancel", "scope": "chosen"}, follow=True)

    assert b"No task is selected" in answer.content


def test_an_order_that_finds_nothing_any_more_says_so(operator):
    answer = operator.post(RUN, order("cancel", scope="matching", filter="state=DEAD", counted="1"), follow=True)

    assert b"Nothing matches any more" in answer.content


def test_an_operation_that_nobody_did_is_not_found(operator):
    page(operator, f"{LIST}operation/{uuid4()}/", status=404)


# ---- overview, batches, entries ----


def test_the_first_page_says_that_nobody_dispatches_and_nobody_works(viewer):
    for text in (page(viewer, "/admin/"), looked_at(viewer, "/admin/")):
        assert "Nothing is dispatched" in text
        assert "No task can run" in text


def test_the_overview_shows_what_ran_failed_died_and_comes(viewer):
    dead("gone")
    schedule_many("T_QUIET", [{"key": n} for n in range(5)])
    run_due()
    scheduled("soon", delay=600)

    context = viewer.get("/admin/").context

    assert context["last_hour"].ok == 5
    assert context["status"].dead_shown == "1"
    assert [name for name, *_ in context["failing"]] == ["T_QUIET"]
    assert sum(context["charts"][2].series[0].values) == 1


def test_a_batch_shows_its_tasks_and_bad_numbers_are_not_found(viewer):
    scheduled("in it")
    [batch] = claim_due()

    assert "in it" in page(viewer, f"/admin/tasks_app/taskbatch/{batch.batch_no}/change/")
    assert batch.batch_no[:8] in page(viewer, "/admin/tasks_app/taskbatch/")
    page(viewer, "/admin/tasks_app/taskbatch/nonsense/change/", status=404)
    page(viewer, f"/admin/tasks_app/taskbatch/{uuid4()}/change/", status=404)


ENTRIES = "/admin/tasks_app/auditentry/"


def test_entries_are_listed_and_found_by_task(viewer):
    first, second = scheduled("a", "b", at=MONDAY)
    cancel_tasks([first], Operator("olga", "the first reason"))
    cancel_tasks([second], Operator("olga", "the second reason"))

    assert "the first reason" in page(viewer, ENTRIES)
    found = page(viewer, ENTRIES, task=str(second))
    assert "the second reason" in found
    assert "the first reason" not in found
    assert "No entry matches." in page(viewer, ENTRIES, subject="x' OR 1=1")
    assert "Enter a whole number" in page(viewer, ENTRIES, task="x")


@pytest.mark.parametrize(
    "asked",
    [
        {"actor": "olga"},
        {"verb": "cancel"},
        {"subject": "task {first}"},
        {"tenant": "default"},
        {"reason": "THE FIRST"},
        {"since": "2020-01-01T00:00", "until": "2098-01-01T00:00"},
        {"actor": "olga", "verb": "cancel", "reason": "first", "tenant": "default", "since": "2020-01-01T00:00"},
    ],
    ids=lambda asked: "-".join(asked),
)
def test_entries_are_found_by_who_what_whose_why_and_when(viewer, asked):
    [first] = scheduled("a", at=MONDAY)
    cancel_tasks([first], Operator("olga", "the first reason"))
    entry_of_another_tenant()

    given = {name: value.format(first=first) for name, value in asked.items()}
    found = page(viewer, ENTRIES, **given)

    assert "the first reason" in found
    assert ("somebody else" in found) == (set(asked) == {"since", "until"})
    assert "No entry matches." in page(viewer, ENTRIES, **given | {"until": "2020-01-02T00:00"})


def entry_of_another_tenant() -> None:
    audit(Operator("ann", "somebody else"), "move", [Entry("task 0", "moved", None, None, "acme", "T_QUIET")])


def test_the_list_of_entries_goes_on_where_the_page_ends(viewer):
    for _ in range(120):
        entry_of_another_tenant()
    seen, after = [], ""
    while after is not None:
        text = page(viewer, ENTRIES, tenant="acme", **({"after": after} if after else {}))
        seen += re.findall(r"auditentry/(\d+)/change", text)
        more = re.search(r"after=(\d+)", text)
        after = more and more[1]

    assert len(seen) == len(set(seen)) == 120
    page(viewer, ENTRIES, after="x", status=400)
    wrong = page(viewer, ENTRIES, since="2026-01-02T00:00", until="2026-01-01T00:00")
    assert "It must be later than the start." in wrong


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


# What a run tells of itself.


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

    assert "Nothing has been told of its progress" in page(viewer, f"{LIST}{task.id}/change/")
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
        assert f'href="/admin/tasks_app/taskbatch/{batch}/change/"' in page
    assert page.count("https://logs.example.com/?task=") == 2
    assert f'href="https://logs.example.com/?task={task}&amp;pid=' in page
    assert page.count("/admin/tasks_app/node/worker/") >= 2
    entry = AuditEntry.objects.get(task_id=task)
    assert f'href="/admin/tasks_app/auditentry/{entry.id}/change/"' in page


def test_an_audit_entry_leads_to_what_it_is_about(viewer):
    subjects = ["worker host:1", "run 3", "dead letter 4", "lane low", "key of acme", "job 7"]
    audit(by("why"), "try", [Entry(subject, "done") for subject in subjects])

    page = viewer.get("/admin/tasks_app/auditentry/").content.decode()

    ways = {subject: re.findall(rf'<a href="([^"]+)">{subject}</a>', page) for subject in subjects}
    assert ways["worker host:1"] == ["/admin/tasks_app/node/worker/host:1/"]
    assert ways["run 3"] == ["/admin/tasks_app/graphrun/3/change/"]
    assert ways["dead letter 4"] == ["/admin/tasks_app/dlqentry/4/change/"]
    assert ways["lane low"] == ["/admin/tasks_app/node/"]
    assert ways["key of acme"] == []
    assert ways["job 7"] == ["/admin/tasks_app/jobdefinition/7/change/"]


def test_a_minute_of_the_chart_leads_to_the_tasks_that_ran_in_it(viewer):
    task = schedule("T_QUIET", "a").task_id
    run_due()

    chart = viewer.get("/admin/").context["charts"][0]
    [(_, _, url, words), *_] = chart.hits
    page = viewer.get("/admin/").content.decode()

    assert "Succeeded 1" in words
    assert page.count(escape(url)) == 4  # in both pictures, and in their tables
    assert [one.id for one in viewer.get(url).context["tasks"]] == [task]


def test_an_hour_of_the_charts_leads_to_its_tasks_and_the_range_is_in_the_address(viewer):
    task = schedule("T_QUIET", "a").task_id
    run_due()
    for days, ok in ((6, 20), (20, 300)):
        HourFigures.objects.create(
            hour=timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(days=days),
            batches=1,
            returned=0,
            ok=ok,
            failed=0,
            lateness=[0] * 40 + [ok],
        )

    for name, ok, points in (("24h", 1, 24), ("7d", 21, 168), ("30d", 321, 120)):
        answer = viewer.get(f"/admin/?range={name}", headers={"Punctual-Live": "1"})  # as an open page asks
        ran, late, _ = answer.context["charts"]
        assert ran.summary.startswith(f"{ok} succeeded and 0 failed in the last ")
        assert points <= len(ran.labels) <= points + 1
        assert f'<a href="?range={name}#charts" aria-current="true">' in answer.content.decode()
        assert "Nothing is known of the time before" in late.summary
        *_, (_, _, url, words) = ran.hits
        assert "Succeeded 1" in words
        assert [one.id for one in viewer.get(url).context["tasks"]] == [task]
    assert ran.hits[0][2] == ""  # what ran then is kept no longer

    refused = viewer.get("/admin/?range=2h")
    assert refused.status_code == 400
    assert "range=&#x27;2h&#x27; is not a time that the charts can show; take one of 1h, 24h, 7d, 30d." in (
        refused.content.decode()
    )


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
    where = f"/admin/tasks_app/scheduletask/{task}/events/"
    assert f'href="{where}"' in viewer.get(f"/admin/tasks_app/scheduletask/{task}/change/").content.decode()

    answer = viewer.get(where)

    assert (answer.context["found"].events, answer.context["found"].complete) == (of_it, True)
    for event in of_it:
        page = viewer.get(f"/admin/tasks_app/scheduletask/event/{event.id}/").content.decode()
        assert f'href="/admin/tasks_app/scheduletask/event/{event.id}/"' in answer.content.decode()
        assert f'href="/admin/tasks_app/scheduletask/{task}/change/"' in page


def test_events_are_looked_for_around_what_happened_and_up_to_a_bound(viewer, monkeypatch):
    task = schedule("T_QUIET", "a", delay=3600).task_id
    run_due()
    reschedule("T_QUIET", "a", delay=0)
    run_due()
    [*before] = [event for event in told() if event.task == task]
    ScheduleTask.objects.filter(id=task).update(updated_at=timezone.now() - timedelta(days=2))
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(days=1))
    assert move_batches().tasks == 1
    where = f"/admin/tasks_app/scheduletask/{task}/events/"
    assert viewer.get(where).context["found"].events == before != []
    gone = viewer.get("/admin/tasks_app/scheduletask/event/999999-1/")
    assert (gone.status_code, "There is no event" in gone.content.decode()) == (404, True)
    assert viewer.get("/admin/tasks_app/scheduletask/event/drop-table/").status_code == 404

    monkeypatch.setattr(task_events, "MOST_ROWS", 1)
    assert "not all of it was looked at" in viewer.get(where).content.decode()

"""Orders for many tasks: the preview, what becomes of them, and bad input."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest

from tasks_app.engine.watch import audit_browse
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import Campaign, ScheduleTask
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.campaigns import begun, carried_out
from tests.support.clients import client_of, page
from tests.support.engine import claim_due
from tests.support.moves import MONDAY, TUESDAY, dead, scheduled, state

pytestmark = pytest.mark.django_db

VIEW, OPERATE = "punctual.view_scheduletask", "punctual.operate_scheduletask"
LIST = "/admin/punctual/scheduletask/"
ORDER, RUN = f"{LIST}order/", f"{LIST}order/run/"


def order(verb: str, ids=(), **more) -> dict:
    given = {"verb": verb, "scope": "chosen", "ids": ",".join(map(str, ids)), "reason": "it has to be"}
    return given | {"operation": str(uuid4())} | more


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
    assert {answer.url for answer in answers} == {f"/admin/punctual/campaign/{campaign.id}/change/"}
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
    {"ids": "0" * 19 + "1" + "9" * 5_000},  # more digits than Python reads
    {"ids": "1" * 30_001},
    {"scope": "matching", "filter": "key=" + "%" * 8_000},
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
    entries = "/admin/punctual/auditentry/"

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
        operator, f"/admin/punctual/campaign/{carried_out(Campaign.objects.get()).id}/change/"
    )
    assert set(ScheduleTask.objects.values_list("due_at", flat=True)) == {MONDAY}
    assert "has undone it" in page(operator, where) and "undo/" not in page(operator, where)


@pytest.mark.parametrize(
    ("verb", "entries", "title"),
    [
        ("cancel", [Entry("task 7", "cancelled", 7)], "Cancel, task 7"),
        ("cancel", [Entry("task 7", "cancelled", 7), Entry("task 8", "cancelled", 8)], "Cancel, 2 tasks"),
        ("pause", [Entry("lane low", "paused")], "pause, lane low"),
        ("pause", [Entry("job a", "paused"), Entry("job b", "paused")], "pause, job a …"),
    ],
)
def test_the_page_of_an_operation_is_named_after_what_was_done_and_to_what(operator, verb, entries, title):
    done = Operator("olga", "it has to be")
    audit(done, verb, entries)

    shown = page(operator, f"{LIST}operation/{done.operation}/")

    assert re.search(r"<title>\s*(.*?)\s*</title>", shown)[1] == f"Report: {title} | Tasks | Punctual"
    assert operator.get(f"{LIST}operation/{done.operation}/undo/").context["title"] == f"Undo: {title}"


def test_the_preview_of_an_order_is_named_after_what_it_would_do(operator):
    ids = scheduled("a", "b", at=MONDAY)

    assert operator.post(ORDER, {"verb": "cancel", "scope": "chosen", "ids": ids}).context["title"] == "Cancel 2 tasks"


def test_what_is_a_part_of_an_order_is_shown_where_the_order_is_not(viewer, monkeypatch):
    entries, ids = "/admin/punctual/auditentry/", scheduled("a", "b", "c", at=MONDAY)
    ids += scheduled("d", at=MONDAY, tenant="acme")
    carried_out(begun(Verb.CANCEL, ids))

    def subjects(**asked: str) -> list[str]:
        return [entry.subject for entry, _ in viewer.get(entries, asked).context["entries"]]

    assert not {f"task {one}" for one in ids} & set(subjects())
    assert set(subjects(verb="cancel")) == {f"task {one}" for one in ids}  # that of the campaign has another verb
    assert f"task {ids[3]}" in subjects(tenant="acme")  # and is no tenant's
    monkeypatch.setattr(audit_browse, "STRETCH", 2)  # of which the latest have nothing but parts
    assert subjects() != []


def test_an_order_without_a_choice_says_so(operator):
    scheduled("a", at=MONDAY)

    answer = operator.post(ORDER, {"verb": "cancel", "scope": "chosen"}, follow=True)

    assert b"No task is selected" in answer.content


def test_an_order_that_finds_nothing_any_more_says_so(operator):
    answer = operator.post(RUN, order("cancel", scope="matching", filter="state=DEAD", counted="1"), follow=True)

    assert b"Nothing matches any more" in answer.content


def test_an_operation_that_nobody_did_is_not_found(operator):
    page(operator, f"{LIST}operation/{uuid4()}/", code=404)


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


@pytest.mark.parametrize("path", [ORDER, RUN])
def test_an_order_needs_a_form_of_ours(path):
    client = client_of(person("olga", VIEW, OPERATE), enforce_csrf_checks=True)
    [task_id] = scheduled("a", at=MONDAY)

    assert client.post(path, order("cancel", [task_id])).status_code == 403
    assert client.get(path).status_code == 405
    assert state(task_id).status == "INIT"

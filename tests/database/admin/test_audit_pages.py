"""The pages of the audit: what they show, and how entries are found."""

import re

import pytest

from django_punctual import (
    Operator,
    cancel_tasks,
)
from tasks_app.lifecycle.audit import Entry, audit
from tests.support.clients import page
from tests.support.jobs import by
from tests.support.moves import MONDAY, scheduled

pytestmark = pytest.mark.django_db

ENTRIES = "/admin/punctual/auditentry/"


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
    page(viewer, ENTRIES, after="x", code=400)
    wrong = page(viewer, ENTRIES, since="2026-01-02T00:00", until="2026-01-01T00:00")
    assert "It must be later than the start." in wrong


def test_an_audit_entry_leads_to_what_it_is_about(viewer):
    subjects = ["worker host:1", "run 3", "dead letter 4", "lane low", "key of acme", "job 7"]
    audit(by("why"), "try", [Entry(subject, "done") for subject in subjects])

    page = viewer.get("/admin/punctual/auditentry/").content.decode()

    ways = {subject: re.findall(rf'<a href="([^"]+)">{subject}</a>', page) for subject in subjects}
    assert ways["worker host:1"] == ["/admin/punctual/node/worker/host:1/"]
    assert ways["run 3"] == ["/admin/punctual/graphrun/3/change/"]
    assert ways["dead letter 4"] == ["/admin/punctual/dlqentry/4/change/"]
    assert ways["lane low"] == ["/admin/punctual/node/"]
    assert ways["key of acme"] == []
    assert ways["job 7"] == ["/admin/punctual/jobdefinition/7/change/"]

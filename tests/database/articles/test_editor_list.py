"""The editor's list: what each filter finds, what each row says, and in how many statements."""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.signals import template_rendered
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from articles_app import lifecycle
from articles_app.admin import list as list_page
from articles_app.admin.hints import hints
from articles_app.models import EditorPreference
from articles_app.states import ArticleStatus
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import Failure
from tasks_app.lifecycle.settle import Settled, settle
from tasks_app.lifecycle.start import start
from tasks_app.models import Node, SavedFilter
from tasks_app.pages import lists
from tests.support.articles import (
    MONDAY,
    approved,
    audit_task,
    claim_task,
    draft,
    offline,
    pending,
    publish_task,
    published,
    rejected,
    row,
    write_past_lifecycle,
)
from tests.support.editor import LIST, editor, person, text_of

pytestmark = pytest.mark.django_db

ZONE = ZoneInfo("UTC")
LONG_AGO = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def ann():
    return editor("ann")


@pytest.fixture
def fleet():
    """A beat and a worker that have just reported themselves."""
    from uuid import uuid4

    from tasks_app.core.lanes import LANES

    Node.objects.create(node_id=uuid4(), kind=Node.BEAT, name="b")
    Node.objects.create(node_id=uuid4(), kind=Node.WORKER, name="w", slots=1, lanes=list(LANES))


def settled(task, outcome) -> None:
    """This task claimed, started and settled so."""
    batch = start(claim_task(task), "worker")
    settle(batch.batch_no, REGISTRY.get(batch.task_type), [Settled(batch.tasks[0], outcome)], finish=True)


def dead_publication() -> int:
    article = approved(LONG_AGO)
    settled(publish_task(article), Failure("BROKEN", "no way {} <script>", final=True))
    return article


def shown(client, query: str = "") -> list[int]:
    return [article.id for article in client.get(f"{LIST}{query}").context["cl"].result_list]


# Filters


def test_each_filter_finds_what_its_name_says(ann):
    # What has to be run comes first: whatever is due is claimed together.
    gone, live, dead = offline(), published(), dead_publication()
    a_draft, in_audit, scheduled, was_rejected, late = draft(), pending(), approved(), rejected(), approved(LONG_AGO)

    names = ("drafts", "audit", "scheduled", "overdue", "failed", "live")
    found = {name: set(shown(ann, f"?show={name}")) for name in names}

    assert found == {
        "drafts": {a_draft},
        "audit": {in_audit},
        "scheduled": {scheduled, late, dead},
        "overdue": {late, dead},
        "failed": {was_rejected, dead},
        "live": {live},
    }
    assert gone in shown(ann)


def test_overdue_are_those_that_wait_and_whose_time_has_passed(ann):
    published(LONG_AGO), draft(LONG_AGO), rejected(LONG_AGO), approved()
    late = [pending(LONG_AGO), approved(LONG_AGO)]
    assert shown(ann, "?show=overdue") == late


@pytest.mark.parametrize(
    ("query", "words", "leads_back"),
    [
        ("", "There is nothing here yet.", False),
        ("?show=failed", "Nothing matches.", True),
        ("?q=x", "Nothing matches.", True),
    ],
)
def test_an_empty_list_says_why_and_leads_on(ann, query, words, leads_back):
    page = ann.get(LIST + query).content.decode()
    assert words in page and f'href="{LIST}add/">Add article</a>' in page
    assert ('<a class="pu-button" href="?">Show all</a>' in page) is leads_back


def test_an_empty_list_in_a_window_of_its_own_leads_on_within_it(ann):
    """Where a form asks for a choice, which the window hands back to it."""
    page = ann.get(f"{LIST}?_popup=1&_to_field=id&q=x").content.decode()
    assert '<a class="pu-button" href="?_popup=1&amp;_to_field=id">Show all</a>' in page
    assert f'href="{LIST}add/?_popup=1&amp;_to_field=id">Add article</a>' in page


def test_what_is_scheduled_comes_in_the_order_of_its_time(ann):
    second, first = approved(MONDAY + timedelta(hours=1)), approved(MONDAY)
    assert shown(ann, "?show=scheduled") == [first, second]


@pytest.mark.parametrize("query", ["?o=99.-1", "?q=" + "a" * 3000, "?q=%00%F0%9F%A6%94"])
def test_a_query_made_by_hand_is_no_error(ann, query):
    draft()
    assert ann.get(f"{LIST}{query}").status_code == 200


@pytest.mark.parametrize("query", ["?show=nonsense", "?p=0", "?p=x", "?p=99", "?status=DRAFT", "?body__contains=x"])
def test_what_the_list_does_not_offer_is_refused_and_named(ann, query):
    answer = ann.get(f"{LIST}{query}")
    assert answer.status_code == 400
    assert re.split(r"[?=]", query)[1] in text_of(answer) or "nonsense" in text_of(answer)


# Search


def test_search_finds_words_of_the_title_in_any_order_and_numbers(ann):
    one, two = draft(title="The quick brown fox"), draft(title="A slow BROWN bear, 100%")
    assert shown(ann, "?q=brown") == [two, one]
    assert shown(ann, "?q=fox+quick") == [one]
    assert shown(ann, f"?q={one}") == [one]
    assert shown(ann, "?q=100%25") == [two]
    assert shown(ann, "?q=_") == []


def test_search_finds_beginnings_of_words_and_else_any_part_of_a_title(ann):
    one, two = draft(title="Browning's row"), draft(title="今天的头条新闻")
    assert shown(ann, "?q=brow") == [one]
    assert shown(ann, "?q=rowning") == [one]
    assert shown(ann, "?q=头条") == [two]
    assert shown(ann, "?q=browning's") == [one]
    assert shown(ann, "?q=%27+%5C+%26+%21+%3A%2A") == []


def test_parts_of_words_are_looked_for_in_the_newest_titles_only(ann, monkeypatch):
    monkeypatch.setattr("articles_app.admin.search.READ", 1)
    old, new = draft(title="Browning"), draft(title="Browning")
    assert shown(ann, "?q=rowning") == [new]
    assert shown(ann, "?q=browning") == [new, old]


# Rows


def test_a_row_shows_the_time_in_the_editors_zone_and_in_utc(ann):
    EditorPreference.objects.create(user_id=ann.session["_auth_user_id"], time_zone="Asia/Tokyo")
    approved(MONDAY)
    words = text_of(ann.get(LIST))
    assert "Times are in Asia/Tokyo" in words
    assert "Mon 2 Jan 2090 18:00" in words and "09:00 UTC" in words


def test_a_zone_comes_from_the_choice_then_the_browser_then_utc(ann):
    assert "Times are in UTC" in text_of(ann.get(LIST))
    ann.cookies["punctual_zone"] = "Europe%2FBerlin"
    assert "Times are in Europe/Berlin" in text_of(ann.get(LIST))
    assert ann.post(f"{LIST}zone/", {"time_zone": "Asia/Tokyo", "next": "https://evil.example/"}).url == LIST
    assert "Times are in Asia/Tokyo" in text_of(ann.get(LIST))
    ann.post(f"{LIST}zone/", {"time_zone": "", "next": LIST})
    ann.cookies["punctual_zone"] = "../../etc/passwd"
    assert "Times are in UTC" in text_of(ann.get(LIST))
    assert "Select a valid choice" in text_of(ann.post(f"{LIST}zone/", {"time_zone": "Mars/Phobos"}))


def test_titles_and_reasons_with_markup_are_shown_as_they_are(ann):
    draft(title="<script>alert(1)</script>")
    bad = pending()
    lifecycle.reject(bad, reason="<img src=x onerror=alert(1)>", actor="mod")
    content = ann.get(LIST).content.decode()
    assert "<script>alert(1)" not in content and "<img src=x" not in content
    assert "&lt;script&gt;alert(1)" in content and "&lt;img src=x" in content


def test_a_page_takes_the_same_statements_and_templates_for_one_row_of_a_state_and_for_many(
    ann, django_assert_num_queries
):
    states = (draft, pending, approved, rejected)
    for make in states:
        make()
    templates = []

    def count(template, **_: object) -> None:
        templates.append(template.name)

    template_rendered.connect(count)
    try:
        with CaptureQueriesContext(connection) as one:
            ann.get(LIST)
        for_one = Counter(templates)
        for make in states * 5:
            make()
        templates.clear()
        with django_assert_num_queries(len(one)):
            ann.get(LIST)
    finally:
        template_rendered.disconnect(count)
    assert Counter(templates) == for_one and for_one["tasks_app/list.html"] == 1


def test_a_row_leads_to_its_article_and_back_to_the_list_as_it_was_filtered(ann):
    article = draft(title="{0} {id} & more")
    content = ann.get(f"{LIST}?show=drafts").content.decode()
    assert f'href="{LIST}{article}/change/?_changelist_filters=show%3Ddrafts"' in content
    assert ">{0} {id} &amp; more</a>" in content and f'name="_selected_action" value="{article}"' in content


def test_a_filter_is_saved_with_its_order_and_shown_to_whoever_saved_it(ann):
    saved = "/admin/punctual/scheduletask/saved/"
    given = {"page": "articles", "query": "show=drafts&q=rain&o=-3&p=2", "name": "my <drafts>"}
    assert "Save this filter as" not in text_of(ann.get(LIST))
    assert "Save this filter as" in text_of(ann.get(f"{LIST}?show=drafts"))

    answer = ann.post(saved, given)

    assert (answer.status_code, answer.url) == (302, f"{LIST}?show=drafts&q=rain&o=-3")
    listed = ann.get(LIST).content.decode()
    assert 'href="?show=drafts&amp;q=rain&amp;o=-3"' in listed and "my &lt;drafts&gt;" in listed
    assert "my &lt;drafts" not in editor("bob").get(LIST).content.decode()
    for bad in ({"query": "show=everything"}, {"query": "o=title"}, {"query": "p=2"}):
        assert ann.post(saved, given | bad).status_code == 400, bad
    # She may save filters of lists that she may see.
    assert ann.post(saved, given | {"page": "tasks", "query": "state=DEAD"}).status_code == 403
    assert person("cleo").post(saved, given).status_code == 403
    assert ann.post(f"{saved}{SavedFilter.objects.get().id}/remove/").url == LIST
    assert not SavedFilter.objects.exists()


def test_counting_stops_at_a_bound_and_says_so(ann, monkeypatch):
    for number in range(5):
        draft(title=f"Number {number}")
    assert "5 articles" in text_of(ann.get(LIST))
    monkeypatch.setattr(lists, "COUNTED", 3)
    monkeypatch.setattr(list_page, "COUNTED", 3)
    monkeypatch.setattr(list_page, "FOUND", 2)
    monkeypatch.setattr("articles_app.admin.search.FOUND", 2)
    assert "3 or more articles" in text_of(ann.get(LIST))
    assert "2 or more articles" in text_of(ann.get(f"{LIST}?q=number"))
    assert "1 article" in text_of(ann.get(f"{LIST}?q=number+3"))


# Hints


def hint(article: int, now: datetime | None = None) -> str:
    now = now or timezone.now()
    return hints([row(article)], ZONE, now)[article].text(now)


def test_a_hint_says_what_comes_next():
    soon = timezone.now() + timedelta(minutes=3, seconds=30)
    assert hint(published()).startswith("Live since ") and hint(published()).endswith(" late")
    assert hint(published(offline_time=soon)) == "Live; goes offline in 3 min"
    assert hint(offline()) == "Offline; readers can't see it"
    assert hint(draft()) == "Not scheduled: it goes live only after you submit it"
    assert hint(pending(soon)) == "In audit; goes live in 3 min if approved"
    assert hint(approved(soon)) == "Goes live in 3 min"
    assert hint(rejected()) == "Rejected: dull"


def test_a_late_hint_gives_the_reason(fleet):
    dead, runs, failed = dead_publication(), approved(), approved()
    claim_task(publish_task(runs))
    settled(publish_task(failed), Failure("BUSY", "the shop is closed\nwith a stack", after=60))
    now = timezone.now()
    for article in (runs, failed):
        write_past_lifecycle(article, publish_time=now - timedelta(seconds=12))

    assert hint(runs, now) == "12 s late, because it was handed to a worker and isn't done yet"
    assert hint(failed, now).startswith("12 s late, because try 1 failed (the shop is closed); tried again at ")
    assert hint(dead).startswith("Given up: the only try failed (no way { } <script>), so it won't go live.")


def test_a_late_hint_says_who_has_to_be_started():
    now = timezone.now()
    late = approved(now - timedelta(seconds=12))
    assert hint(late, now) == "12 s late, because no beat is running"


# What open pages ask for


def test_the_answer_for_open_pages_has_state_hint_and_clock(ann):
    article = approved(MONDAY)
    told = json.loads(ann.get(f"{LIST}live/?ids={article},999").content)
    assert told["now"] == pytest.approx(timezone.now().timestamp(), abs=60)
    assert told["articles"] == [
        {
            "id": article,
            "revision": 3,
            "status": "AUDIT_SUCCESS",
            "badge": "AUDIT_SUCCESS",
            "label": "Scheduled",
            "kind": "soon",
            "before": "Goes live in {}",
            "at": MONDAY.timestamp(),
            "after": "Should have gone live {} ago",
        }
    ]


@pytest.mark.parametrize("ids", ["x", "0", "-1", "9" * 30, ",".join("1" * 201)])
def test_ids_that_make_no_sense_are_refused(ann, ids):
    assert ann.get(f"{LIST}live/?ids={ids}").status_code == 400


def test_audits_that_fail_are_told_before_the_article_is_late(fleet):
    article = pending(timezone.now() + timedelta(hours=2, minutes=5, seconds=30))
    settled(audit_task(article), Failure("MODERATION_TIMEOUT", "no answer", after=60))
    assert hint(article).startswith("In audit; try 1 failed (no answer); tried again at ")
    assert hint(article).endswith("; goes live in 2 h 5 min if approved")


def test_staff_who_may_only_look_get_no_actions():
    article = draft()
    content = person("vera", "view").get(LIST).content.decode()
    assert "move_publish_times" not in content and f"/article/{article}/change/" in content
    assert row(article).status == ArticleStatus.DRAFT


def test_the_list_is_sorted_by_publish_time_by_its_column(ann):
    late, soon = draft(MONDAY + timedelta(days=9)), draft(MONDAY)
    for column, wanted in (("3", [soon, late]), ("-3", [late, soon])):
        assert [one.id for one in ann.get(f"{LIST}?o={column}").context["cl"].result_list] == wanted

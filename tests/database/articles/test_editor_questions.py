"""What an editor is asked first: withdrawing, and times that have passed. What was typed stays; only yes does it."""

from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.utils import timezone

from articles_app.models import Article
from articles_app.states import ArticleStatus
from tests.support.articles import (
    IN_STATE,
    MONDAY,
    approved,
    draft,
    offline_task,
    pending,
    publish_task,
    published,
    rejected,
    row,
    status,
)
from tests.support.editor import ADD, MOVE, ask, done, editor, form_of, new, page, refused, said, text_of, url, yes

pytestmark = pytest.mark.django_db

LAST_YEAR = f"{timezone.now().year - 1}-03-01T09:00"


@pytest.fixture
def ann():
    return editor("ann")


def asked(answer) -> str:
    assert answer.status_code == 200
    return " ".join(one.words for one in answer.context["page"].questions)


# Withdrawing


@pytest.mark.parametrize("make", [pending, approved])
@pytest.mark.parametrize(("verb", "typed"), [("withdraw", {}), ("save", {"title": "Another title"})])
def test_withdrawing_asks_first_and_keeps_what_was_typed(ann, make, verb, typed):
    article = make()
    before = row(article)

    question = ask(ann, article, verb, page(article) | typed)

    assert "withdraw " in asked(question).lower() and "Mon 2 Jan 2090 09:00 UTC" in asked(question)
    assert (row(article).revision, row(article).title) == (before.revision, before.title)
    assert form_of(question)["title"] == typed.get("title", before.title)

    assert done(yes(ann, article, question))
    assert status(article) == ArticleStatus.DRAFT and row(article).title == typed.get("title", before.title)


def test_no_changes_nothing_and_leaves_what_was_typed(ann):
    article = approved()
    question = ask(ann, article, "save", page(article) | {"title": "Another title"})
    answer = ask(ann, article, "no", form_of(question))
    assert "What you typed is still here" in refused(answer) and not answer.context["page"].questions
    assert form_of(answer)["title"] == "Another title"
    assert status(article) == ArticleStatus.AUDIT_SUCCESS


def test_a_yes_to_another_question_is_no_yes_to_this_one(ann):
    article = approved()
    answer = ann.post(url(article), page(article) | {"yes": "withdraw|publish 2020-01-01T09:00:00+00:00"})
    assert "Withdraw it?" in asked(answer) and status(article) == ArticleStatus.AUDIT_SUCCESS


@pytest.mark.parametrize("state", [ArticleStatus.DRAFT, ArticleStatus.AUDIT_FAIL])
def test_what_is_not_scheduled_is_saved_without_a_question(ann, state):
    article = IN_STATE[state]()
    assert done(ask(ann, article, "save", page(article) | {"title": "Another title"}))


# Times that have passed


@pytest.mark.parametrize("verb", ["submit"])
@pytest.mark.parametrize("make", [draft, rejected])
def test_submitting_with_a_time_that_has_passed_asks_first(ann, make, verb):
    typed_now, was_so = make(), make(timezone.now() - timedelta(hours=1))
    for article, typed in ((typed_now, {"publish_time": LAST_YEAR, "body": "Typed"}), (was_so, {"body": "Typed"})):
        before = row(article)
        question = ask(ann, article, verb, page(article) | typed)
        assert "has passed. Publish it immediately, as soon as it is approved?" in asked(question)
        assert (row(article).revision, row(article).status) == (before.revision, before.status)
        assert form_of(question)["body"] == "Typed"
        assert done(yes(ann, article, question)) and status(article) == ArticleStatus.PENDING_AUDIT


def test_a_new_article_with_a_time_that_has_passed_is_asked_about_before_it_is_made(ann):
    typed = new(ann, publish_time=LAST_YEAR)
    question = ann.post(ADD, typed | {"verb": "submit"})
    assert "Publish it immediately" in asked(question) and not Article.objects.exists()
    assert form_of(question)["publish_time"] == LAST_YEAR
    assert done(ann.post(ADD, form_of(question) | {"yes": question.context["yes"]})) and Article.objects.count() == 1


def test_moving_a_scheduled_article_to_a_time_that_has_passed_asks_first(ann):
    article = approved()
    question = ask(ann, article, "save", page(article) | {"publish_time": LAST_YEAR})
    assert asked(question).endswith("has passed. Publish it immediately?")
    assert row(article).publish_time == publish_task(article).execute_time == MONDAY
    assert form_of(question)["publish_time"] == LAST_YEAR

    answer = yes(ann, article, question)
    assert said(answer)[0].endswith("That has passed, so it goes live at once.")


def test_a_new_time_typed_after_the_question_is_asked_about_again(ann):
    article = approved()
    question = ask(ann, article, "save", page(article) | {"publish_time": LAST_YEAR})
    again = yes(ann, article, question, publish_time="2020-02-02T10:00")
    assert "Sun 2 Feb 2020 10:00 UTC has passed" in asked(again) and row(article).publish_time == MONDAY


def test_a_draft_keeps_a_time_that_has_passed_without_a_question(ann):
    article = draft()
    assert done(ask(ann, article, "save", page(article) | {"publish_time": LAST_YEAR}))


def test_an_offline_time_that_has_passed_asks_first(ann):
    live = published(timezone.now() - timedelta(days=2))
    typed = f"{timezone.now() - timedelta(days=1):%Y-%m-%dT%H:%M}"
    question = ask(ann, live, "save", page(live) | {"offline_time": typed})
    assert asked(question).endswith("has passed. Take it offline immediately?")
    assert row(live).offline_time is None and offline_task(live) is None
    assert done(yes(ann, live, question)) and row(live).offline_time is not None


def test_a_submission_that_would_go_offline_at_once_asks_about_both(ann):
    article = draft()
    typed = {"publish_time": "2020-01-01T09:00", "offline_time": "2020-01-02T09:00"}
    question = ask(ann, article, "submit", page(article) | typed)
    assert "Publish it immediately" in asked(question) and "Take it offline as soon as it is live?" in asked(question)
    assert done(yes(ann, article, question))


def test_the_instant_that_was_chosen_for_an_unclear_time_survives_the_question(ann):
    article = draft()
    typed = page(article) | {"publish_time": "2026-03-29T02:30", "zone": "Europe/Berlin"}
    question = ask(ann, article, "submit", typed, publish_time_meant="2026-03-29T00:30:00+00:00")
    assert "Publish it immediately" in asked(question)
    assert _checked(question) == {"publish_time_meant": "2026-03-29T00:30:00+00:00"}


# Many at once


def test_many_are_not_published_at_once_without_a_tick(ann):
    scheduled, in_audit, a_draft = approved(), pending(), draft()
    chosen = ",".join(f"{one}:{row(one).revision}" for one in (scheduled, in_audit, a_draft))
    sent = {"chosen": chosen, "zone": "UTC", "mode": "to", "at": LAST_YEAR}
    seen = ann.post(MOVE, sent | {"step": "preview"})
    assert "Publish 2 of them immediately" in text_of(seen)

    sent |= {"shown": seen.context["preview"]["fingerprint"], "step": "move"}
    refused_ = ann.post(MOVE, sent)
    assert "Nothing has been moved yet: 2 articles would be published at once" in text_of(refused_)
    assert row(scheduled).publish_time == MONDAY and form_value(refused_, "at") == LAST_YEAR
    assert done(ann.post(MOVE, sent | {"at_once": "2"})) and row(scheduled).publish_time.year == timezone.now().year - 1


def test_drafts_move_to_any_time_without_a_tick(ann):
    article = draft()
    sent = {"chosen": f"{article}:1", "zone": "UTC", "mode": "to", "at": LAST_YEAR}
    seen = ann.post(MOVE, sent | {"step": "preview"})
    assert done(ann.post(MOVE, sent | {"shown": seen.context["preview"]["fingerprint"], "step": "move"}))


def test_the_instant_that_was_chosen_for_many_survives_the_preview(ann):
    article = draft()
    sent = {"chosen": f"{article}:1", "zone": "Europe/Berlin", "mode": "to", "at": "2026-10-25T02:30"}
    seen = ann.post(MOVE, sent | {"step": "preview", "at_meant": "2026-10-25T01:30:00+00:00"})
    assert seen.context["preview"] and _checked(seen)["at_meant"] == "2026-10-25T01:30:00+00:00"


def form_value(answer, name: str) -> str:
    return answer.context["form"][name].value()


class _Checked(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = {}

    def handle_starttag(self, tag: str, attributes: list) -> None:
        given = dict(attributes)
        if tag == "input" and given.get("type") == "radio" and "checked" in given and given["name"].endswith("_meant"):
            self.found[given["name"]] = given["value"]


def _checked(answer) -> dict[str, str]:
    parser = _Checked()
    parser.feed(answer.content.decode())
    return parser.found

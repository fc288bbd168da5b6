"""The calendar of articles: a week in the editor's zone, and moving one, with the form's own checks and words."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from articles_app import lifecycle
from articles_app.admin import week
from articles_app.admin.hints import hints
from articles_app.models import Article, EditorPreference
from tests.support.articles import (
    MONDAY,
    TUESDAY,
    approved,
    claim_task,
    draft,
    pending,
    publish_task,
    published,
    row,
)
from tests.support.editor import LIST, done, editor, person, said, text_of

pytestmark = pytest.mark.django_db

CALENDAR = f"{LIST}calendar/"
WEEK = f"{CALENDAR}?week=2090-01-04"  # a Wednesday


@pytest.fixture
def ann():
    return editor("ann")


def cards(answer) -> dict[str, list[str]]:
    """By day, what is shown there."""
    return {f"{day.on}": [f"{card.time} {card.article.title}" for card in day.cards] for day in answer.context["days"]}


def move(client, article: int, at: str, where: str = WEEK, **more: str):
    client.cookies.pop("messages", None)
    sent = {"article": str(article), "revision": str(row(article).revision), "at": at, "zone": "UTC"}
    return client.post(where, sent | more)


# What is shown


def test_a_week_shows_what_goes_live_when_in_the_editors_zone(ann):
    draft(datetime(2090, 1, 1, 23, 30, tzinfo=UTC), title="late on Sunday")
    approved(MONDAY, title="on Monday")
    draft(datetime(2090, 1, 8, 23, 0, tzinfo=UTC), title="the Sunday after")
    draft(datetime(2090, 1, 9, 0, 0, tzinfo=UTC), title="the week after")

    shown = cards(ann.get(WEEK))
    assert [day for day, found in shown.items() if found] == ["2090-01-02", "2090-01-08"]
    assert shown["2090-01-02"] == ["09:00 on Monday"] and len(shown) == 7
    EditorPreference.objects.create(user_id=int(ann.session["_auth_user_id"]), time_zone="Europe/Berlin")
    shown = cards(ann.get(WEEK))
    assert shown["2090-01-02"] == ["00:30 late on Sunday", "10:00 on Monday"] and shown["2090-01-08"] == []


def test_the_days_on_which_the_clocks_change_have_all_their_articles_once(ann):
    EditorPreference.objects.create(user_id=int(ann.session["_auth_user_id"]), time_zone="Europe/Berlin")
    midnight = datetime(2026, 10, 25, tzinfo=ZoneInfo("Europe/Berlin")).astimezone(UTC)
    for hour in range(25):
        draft(midnight + timedelta(hours=hour), title=f"{hour}")
    answer = ann.get(f"{CALENDAR}?week=2026-10-25")
    [*_, sunday] = answer.context["days"]
    assert len(sunday.cards) == 25 and [len(slot.cards) for slot in sunday.slots][:5] == [1, 1, 2, 1, 1]
    assert "02:00 (UTC+02:00)" in text_of(answer) and "02:00 (UTC+01:00)" in text_of(answer)


def test_a_title_is_text_wherever_its_card_has_it(ann):
    article = draft(MONDAY, title='"<b>{id} %(title)s & more')
    content = ann.get(WEEK).content.decode()
    escaped = "&quot;&lt;b&gt;{id} %(title)s &amp; more"
    assert content.count(escaped) == 4 and "<b>{id}" not in content
    assert f'aria-label="Move “{escaped}”"' in content and f"&amp;move={article}" in content


def test_a_full_day_is_cut_and_the_rest_is_a_link_away(ann, monkeypatch):
    monkeypatch.setattr(week, "IN_A_WEEK", 2)
    monkeypatch.setattr(week, "IN_A_DAY", 3)
    for number in range(4):
        draft(MONDAY, title=f"{number}")
    draft(TUESDAY, title="alone")
    shown = ann.get(WEEK)
    assert cards(shown)["2090-01-02"] == ["09:00 0", "09:00 1"] and cards(shown)["2090-01-03"] == ["09:00 alone"]
    day = ann.get(CALENDAR + shown.context["days"][0].more)
    assert cards(day) == {"2090-01-02": ["09:00 0", "09:00 1", "09:00 2"]}
    rest = ann.get(CALENDAR + day.context["days"][0].more)
    assert cards(rest) == {"2090-01-02": ["09:00 3"]} and not rest.context["days"][0].more


def test_nothing_is_looked_for_but_the_tasks_that_articles_wait_for(django_assert_num_queries):
    """Each of them is live: one statement for a state, and none for the past or for what is live for good."""
    ids = [published(), approved(MONDAY), approved(MONDAY), pending(MONDAY), draft(MONDAY)]
    articles = list(Article.objects.filter(id__in=ids))
    with django_assert_num_queries(2):
        hints(articles, ZoneInfo("UTC"), timezone.now())


def test_a_week_is_read_by_its_index_in_as_many_statements_however_many_there_are(ann):
    approved(MONDAY)
    ann.get(WEEK)
    with CaptureQueriesContext(connection) as one:
        ann.get(WEEK)
    for number in range(30):
        approved(MONDAY + timedelta(hours=number))
    with CaptureQueriesContext(connection) as many:
        ann.get(WEEK)
    assert len(many) == len(one)
    [read] = [query["sql"] for query in many if "UNION" in (query["sql"] or "")]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {read}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert len(re.findall("using article_publish_time", plan)) == 7 and "Sort" not in plan.replace("Sort Key", ""), plan


@pytest.mark.parametrize(
    ("query", "named"),
    [("week=soon", "'soon' is not a day"), ("day=9999-12-31", "9999-12-31"), ("day=2090-01-02&after=x", "after='x'"),
     ("month=1", "'month' is not a filter")],
)  # fmt: skip
def test_an_address_that_names_no_days_is_refused_in_words(ann, query, named):
    answer = ann.get(f"{CALENDAR}?{query}")
    assert answer.status_code == 400 and named in text_of(answer).replace("&#x27;", "'")


# Moving


def test_a_move_says_what_came_of_it_and_shows_where_the_article_is_then(ann):
    article = approved(MONDAY, title="News")
    answer = move(ann, article, "2090-01-12T11:00")
    assert answer.url == f"{CALENDAR}?week=2090-01-09#pa-article-{article}"
    assert said(answer) == [
        "“News”: Moved: it goes live on Thu 12 Jan 2090 11:00 UTC instead of Mon 2 Jan 2090 09:00 UTC."
    ]
    assert publish_task(article).execute_time == row(article).publish_time == datetime(2090, 1, 12, 11, tzinfo=UTC)


def test_somebody_who_was_overtaken_is_told_by_whom_and_can_press_again(ann):
    article = approved(MONDAY)
    read = row(article).revision
    lifecycle.change_publish_time(article, TUESDAY, actor="bob")
    answer = move(ann, article, "2090-01-05T09:00", revision=str(read))
    words = text_of(answer)
    assert "somebody else has changed the article since you opened it." in words
    assert "Publish time moved by bob from Mon 2 Jan 2090 09:00 UTC to Tue 3 Jan 2090 09:00 UTC" in words
    assert cards(answer)["2090-01-03"] == ["09:00 A title"] and row(article).publish_time == TUESDAY
    assert done(move(ann, article, "2090-01-05T09:00", revision=str(answer.context["moving"].revision)))


def test_an_approval_meanwhile_is_in_nobodys_way(ann):
    article = pending(MONDAY)
    read = row(article).revision
    lifecycle.approve(article, actor="mod")
    assert done(move(ann, article, "2090-01-05T09:00", revision=str(read)))
    assert publish_task(article).execute_time == datetime(2090, 1, 5, 9, tzinfo=UTC)


def test_one_that_is_firing_now_is_superseded_and_one_that_is_live_stays(ann):
    live, firing = published(title="Live"), approved(MONDAY, title="Firing")
    claim_task(publish_task(firing))
    assert "the running attempt was superseded" in said(move(ann, firing, "2090-01-05T09:00"))[0]
    before = row(live).publish_time
    assert "Already published at" in said(move(ann, live, "2090-01-05T09:00"))[0]
    assert row(live).publish_time == before


def test_a_time_that_has_passed_is_asked_about_once_and_the_yes_counts_for_it_alone(ann):
    article, idea = approved(MONDAY), draft(MONDAY)
    asked = move(ann, article, "2026-01-05T09:00")
    question = asked.context["moving"].question
    assert "has passed. Publish it immediately?" in text_of(asked) and row(article).publish_time == MONDAY
    other = move(ann, article, "2026-01-06T09:00", yes=question.key)
    assert other.context["moving"].question.key != question.key and row(article).publish_time == MONDAY
    assert "so it goes live at once" in said(move(ann, article, "2026-01-05T09:00", yes=question.key))[0]
    assert done(move(ann, idea, "2026-01-05T09:00")), "a draft goes nowhere by that"


def test_a_time_that_comes_twice_or_never_or_after_the_way_offline_moves_nothing(ann):
    article = approved(MONDAY, offline_time=TUESDAY)
    twice = move(ann, article, "2090-10-29T02:30", zone="Europe/Berlin")
    assert len(twice.context["unclear"]) == 2 and "Which time do you mean?" in text_of(twice)
    assert "goes offline on Tue 3 Jan 2090 09:00 UTC, and has to go live before" in text_of(
        move(ann, article, "2090-01-04T09:00")
    )
    for at, wrong in (("", {}), ("soon", {}), ("2090-01-02T10:00", {"revision": "\u0663"})):
        assert move(ann, article, at, **wrong).status_code == 200
    for nobody in ("x", "999999", "9" * 30):
        sent = {"article": nobody, "revision": "1", "at": "2090-01-02T10:00", "zone": "UTC"}
        assert "doesn't say which article" in text_of(ann.post(WEEK, sent)).replace("&#x27;", "'")
    assert (row(article).publish_time, row(article).revision) == (MONDAY, 3)


def test_only_who_may_change_articles_moves_them():
    vera, article = person("vera", "view"), approved(MONDAY)
    shown = vera.get(f"{WEEK}&move={article}")
    assert b'draggable="true"' not in shown.content and b'id="pa-move"' not in shown.content
    assert move(vera, article, "2090-01-05T09:00").status_code == 403
    assert person("nora").get(CALENDAR).status_code == 403
    assert row(article).publish_time == MONDAY and timezone.now() < MONDAY

"""Moving many publish times: the preview says what will happen, and nothing else happens."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from articles_app import lifecycle
from articles_app.admin import bulk
from tests.support.articles import MONDAY, TUESDAY, approved, claim_task, draft, publish_task, published, row
from tests.support.editor import LIST, MOVE, done, editor, said, text_of

pytestmark = pytest.mark.django_db

HOUR = {"mode": "by", "direction": "later", "hours": "1"}


@pytest.fixture
def ann():
    return editor("ann")


def chosen(*articles: int) -> str:
    return ",".join(f"{one}:{row(one).revision}" for one in articles)


def preview(client, *articles: int, **form: str):
    return client.post(MOVE, {"chosen": chosen(*articles), "zone": "UTC", "step": "preview"} | form)


def move(client, seen, **form: str):
    """Press the button under a preview; `form` is typed after it."""
    sent = {"chosen": seen.context["chosen"], "shown": seen.context["preview"]["fingerprint"], "step": "move"}
    return client.post(MOVE, seen.wsgi_request.POST.dict() | sent | form)


def test_the_lists_action_asks_first_and_changes_nothing(ann):
    one, two = approved(), draft()
    answer = ann.post(LIST, {"action": "move_publish_times", "_selected_action": [one, two]})
    assert "2 articles selected. You will see what it would do before" in text_of(answer)
    assert answer.context["chosen"] == chosen(one, two)
    assert row(one).publish_time == row(two).publish_time == MONDAY


def test_a_preview_counts_what_moves_what_is_too_late_and_names_the_first_and_last_new_time(ann):
    live = published()
    early, late = draft(MONDAY), approved(TUESDAY)

    seen = preview(ann, early, late, live, mode="by", direction="later", days="1", hours="2", minutes="30")

    words = text_of(seen)
    assert "2 would move: the first to Tue 3 Jan 2090 11:30 UTC, the last to Wed 4 Jan 2090 11:30 UTC" in words
    assert "1 too late: already published, and left as it is" in words
    assert row(early).publish_time == MONDAY

    answer = move(ann, seen)
    assert done(answer)
    assert said(answer) == [
        "Moved 2 articles, the first to Tue 3 Jan 2090 11:30 UTC, the last to Wed 4 Jan 2090 11:30 UTC.",
        "1 article was already published and left unchanged.",
    ]
    assert row(late).publish_time == TUESDAY + timedelta(days=1, hours=2, minutes=30)
    assert publish_task(late).execute_time == row(late).publish_time


def test_many_can_move_to_one_time_and_earlier(ann):
    one, two = draft(MONDAY), draft(TUESDAY)
    assert done(move(ann, preview(ann, one, two, mode="to", at="2090-06-01T09:00", zone="Europe/Berlin")))
    assert row(one).publish_time == row(two).publish_time == datetime(2090, 6, 1, 7, tzinfo=UTC)
    move(ann, preview(ann, one, mode="by", direction="earlier", minutes="1"))
    assert row(one).publish_time == datetime(2090, 6, 1, 6, 59, tzinfo=UTC)


def test_a_day_is_a_day_of_the_calendar_where_the_clock_is_changed(ann):
    saturday = datetime(2026, 3, 28, 9, tzinfo=ZoneInfo("Europe/Berlin"))
    day, hours = draft(saturday), draft(saturday)
    move(ann, preview(ann, day, mode="by", direction="later", days="1", zone="Europe/Berlin"))
    move(ann, preview(ann, hours, mode="by", direction="later", hours="24", zone="Europe/Berlin"))
    assert row(day).publish_time == datetime(2026, 3, 29, 9, tzinfo=ZoneInfo("Europe/Berlin"))
    assert row(hours).publish_time == datetime(2026, 3, 29, 10, tzinfo=ZoneInfo("Europe/Berlin"))


def test_a_time_that_exists_twice_is_asked_about(ann):
    one = draft()
    form = {"mode": "to", "at": "2026-10-25T02:30", "zone": "Europe/Berlin"}
    asked = preview(ann, one, **form)
    assert "exists twice in Europe/Berlin" in text_of(asked) and "preview" not in asked.context
    assert done(move(ann, preview(ann, one, **form, at_meant="2026-10-25T01:30:00+00:00")))
    assert row(one).publish_time == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


def test_a_form_that_was_changed_after_its_preview_is_previewed_again(ann):
    one = draft()
    answer = move(ann, preview(ann, one, **HOUR), hours="2")
    assert "the form has changed since the preview" in text_of(answer)
    assert row(one).publish_time == MONDAY
    assert done(move(ann, answer)) and row(one).publish_time == MONDAY + timedelta(hours=2)


def test_an_article_that_somebody_wrote_after_the_preview_stops_all_of_them(ann):
    one, two = draft(), draft()
    seen = preview(ann, one, two, **HOUR)
    lifecycle.edit_content(two, title="Bob's", actor="bob")
    answer = move(ann, seen)
    assert "Nothing was changed: " in text_of(answer) and "edit_content by bob" in text_of(answer)
    assert row(one).publish_time == MONDAY
    assert done(move(ann, answer)) and row(one).publish_time == row(two).publish_time == MONDAY + timedelta(hours=1)


def test_what_runs_by_now_is_superseded_and_counted(ann):
    one, two = approved(), approved()
    seen = preview(ann, one, two, **HOUR)
    claim_task(publish_task(one))
    assert "1 article was already running: those attempts were superseded" in said(move(ann, seen))[0]


def test_an_article_that_would_go_live_after_it_went_offline_is_left_alone_and_told(ann):
    one, two = draft(MONDAY, offline_time=MONDAY + timedelta(minutes=30)), draft(MONDAY)
    seen = preview(ann, one, two, **HOUR)
    assert "1 left alone because of an earlier offline time" in text_of(seen)
    assert said(move(ann, seen))[1] == "1 article was left alone because of an earlier offline time."
    assert (row(one).publish_time, row(two).publish_time) == (MONDAY, MONDAY + timedelta(hours=1))


def test_times_that_have_passed_are_counted(ann):
    seen = preview(ann, draft(MONDAY), mode="to", at=f"{timezone.now():%Y}-01-01T00:00")
    assert "1 would get a time in the past" in text_of(seen)


BAD_FORMS = [
    ({"mode": "by"}, "Enter by how much"),
    ({"mode": "by", "days": "-1"}, "greater than or equal to 0"),
    ({"mode": "by", "days": "99999999999999999999"}, "less than or equal to 3650"),
    ({"mode": "by", "hours": "x"}, "Enter a whole number."),
    ({"mode": "to"}, "Enter the new publish time."),
    ({"mode": "to", "at": "<script>"}, "enter it like 2027-03-01 09:00"),
    ({"mode": "sideways", "days": "1"}, "Select a valid choice."),
    ({}, "This field is required."),
]


def test_bad_input_is_told_and_nothing_is_shown_or_moved(ann):
    one = draft()

    for form, words in BAD_FORMS:
        answer = preview(ann, one, **form)
        assert words in text_of(answer) and "What it would do" not in text_of(answer), form
        assert row(one).revision == 1, form


def test_out_of_the_calendar_is_refused_in_words(ann):
    one = draft(datetime(1971, 1, 1, tzinfo=UTC))
    seen = preview(ann, one, mode="by", direction="earlier", days="3650")
    assert "Nothing was changed: " in text_of(move(ann, seen))
    assert row(one).revision == 1


@pytest.mark.parametrize("given", ["", "x:y", "1", ":", "1:2:3"])
def test_nothing_chosen_leads_back_to_the_list(ann, given):
    answer = ann.post(MOVE, {"chosen": given, "step": "move"} | HOUR)
    assert done(answer) and said(answer) == ["Select the articles to move first."]


def test_too_many_at_once_are_refused(ann, monkeypatch):
    monkeypatch.setattr(bulk, "MOST", 1)
    answer = ann.post(LIST, {"action": "move_publish_times", "_selected_action": [draft(), draft()]})
    assert "More than 1 articles are selected" in said(answer)[0]


def test_the_page_itself_can_only_be_reached_with_a_selection(ann):
    assert ann.get(MOVE).url == LIST

"""The editor's page of one article: every button in every state, what is refused, and who was overtaken."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from articles_app import lifecycle
from articles_app.admin.verbs import BUTTONS, VERBS
from articles_app.models import Article, EditorPreference
from articles_app.states import ArticleStatus, allowed_moves
from articles_app.units import PUBLISH
from django_punctual import find
from tests.support.articles import (
    ANN,
    IN_STATE,
    MONDAY,
    TUESDAY,
    approved,
    audit_task,
    claim_task,
    draft,
    history,
    past,
    pending,
    publish_task,
    published,
    rejected,
    row,
    run,
    status,
)
from tests.support.editor import ADD, done, editor, form_of, new, page, person, press, refused, said, text_of, url

pytestmark = pytest.mark.django_db

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def ann():
    return editor("ann")


# Buttons


def test_a_new_article_is_created_and_submitted_by_the_button_that_says_so(ann):
    answer = ann.post(ADD, new(ann) | {"verb": "submit"})

    article = row(int(answer.url.split("/")[-3]))
    assert said(answer) == ["Submitted. If it is approved, it goes live on Mon 2 Jan 2090 09:00 Europe/Berlin."]
    assert (article.status, article.author) == (ArticleStatus.PENDING_AUDIT, "ann")
    assert article.publish_time == datetime(2090, 1, 2, 9, tzinfo=BERLIN)
    assert audit_task(article.id) is not None


def test_a_new_article_can_stay_a_draft_and_the_page_says_that_it_will_not_go_live(ann):
    answer = ann.post(ADD, new(ann) | {"verb": "save"})

    assert said(answer) == ["Created. It is a draft: it goes live only after you submit it."]
    assert "Not scheduled: it goes live only after you submit it" in text_of(ann.get(answer.url))


@pytest.mark.parametrize("state", IN_STATE)
def test_every_button_that_a_page_shows_does_what_its_state_allows(ann, state):
    for button in BUTTONS[state]:
        article = IN_STATE[state]()
        before = row(article).revision
        typed = page(article)
        if button.only_with_text:
            typed["title"] = "Another title"
        answer = press(ann, article, button.verb, typed)

        assert done(answer), refused(answer)
        assert said(answer)
        assert (row(article).revision > before) is (button.verb != "save")


@pytest.mark.parametrize("state", IN_STATE)
def test_a_button_that_a_state_does_not_have_changes_nothing(ann, state):
    article = IN_STATE[state]()
    before = row(article)
    for verb in VERBS - {button.verb for button in BUTTONS[state]} - set(allowed_moves(state)):
        answer = press(ann, article, verb)

        assert (said(answer) or [refused(answer)])[0].startswith("Nothing was changed"), verb
        assert row(article).revision == before.revision and row(article).status == before.status, verb


def test_the_submit_button_names_the_time_and_a_time_that_has_passed(ann):
    EditorPreference.objects.create(user_id=ann.session["_auth_user_id"], time_zone="Europe/Berlin")
    future, past = draft(MONDAY), draft(timezone.now() - timedelta(hours=1))

    assert "Submit, and publish on Mon 2 Jan 2090 10:00 Europe/Berlin" in text_of(ann.get(url(future)))
    assert "Submit, and publish as soon as it is approved" in text_of(ann.get(url(past)))


def test_a_rejected_article_is_submitted_again_with_one_press(ann):
    article = rejected()
    press(ann, article, "submit")
    assert history(article)[-2:] == ["back_to_draft", "submit"]


def test_a_new_text_of_a_scheduled_article_is_submitted_again_with_one_press_or_withdraws_it(ann):
    again, withdrawn = approved(), approved()

    press(ann, again, "submit", page(again) | {"body": "New"})
    answer = press(ann, withdrawn, "save", page(withdrawn) | {"body": "New"})

    assert (status(again), status(withdrawn)) == (ArticleStatus.PENDING_AUDIT, ArticleStatus.DRAFT)
    assert said(answer) == [
        "The text was saved, and the article withdrawn: nobody has approved this text. "
        "It is a draft: it goes live only after you submit it."
    ]
    assert publish_task(withdrawn).status == "CANCELLED"


def test_a_text_that_nobody_approved_is_not_published_at_once(ann):
    article = approved()
    answer = press(ann, article, "publish_now", page(article) | {"body": "New"})
    assert "Nobody has approved the text" in refused(answer)
    assert status(article) == ArticleStatus.AUDIT_SUCCESS and row(article).body == "A body"


# Times


def test_a_new_time_is_answered_with_one_sentence_in_each_state_of_its_task(ann):
    waiting, running, live = approved(), approved(), approved(past())
    typed = {one: page(one) | {"publish_time": "2090-01-03T09:00"} for one in (waiting, running, live)}
    run(claim_task(publish_task(live)))
    claim_task(publish_task(running))

    assert said(press(ann, waiting, "save", typed[waiting])) == [
        "Moved: it goes live on Tue 3 Jan 2090 09:00 UTC instead of Mon 2 Jan 2090 09:00 UTC."
    ]
    assert said(press(ann, running, "save", typed[running])) == [
        "It was already running, so the running attempt was superseded and a new one is scheduled for "
        "Tue 3 Jan 2090 09:00 UTC."
    ]
    [words] = said(press(ann, live, "save", typed[live]))
    assert words.startswith("Already published at ") and words.endswith("; nothing was changed.")
    assert row(waiting).publish_time == row(running).publish_time == TUESDAY
    assert find(PUBLISH, running).execute_time == TUESDAY


def test_an_untouched_time_keeps_its_fraction_of_a_second(ann):
    at = MONDAY + timedelta(microseconds=123_456)
    article = draft(at)
    press(ann, article, "save", page(article) | {"title": "Another"})
    assert row(article).publish_time == at


def test_both_times_can_move_past_each_other_in_one_save(ann):
    article = draft(MONDAY, offline_time=TUESDAY)
    typed = page(article) | {"publish_time": "2090-02-01T09:00", "offline_time": "2090-02-02T09:00"}
    assert done(press(ann, article, "save", typed))
    back = page(article) | {"publish_time": "2089-02-01T09:00", "offline_time": "2089-02-02T09:00"}
    assert done(press(ann, article, "save", back))
    assert (row(article).publish_time.year, row(article).offline_time.year) == (2089, 2089)


def test_an_offline_time_before_the_publish_time_is_refused_with_everything_typed_still_there(ann):
    article = draft()
    typed = page(article) | {"offline_time": "2089-01-01T00:00", "title": "Typed"}
    answer = press(ann, article, "save", typed)
    assert "is not after the publish time" in refused(answer)
    assert form_of(answer)["title"] == "Typed" and row(article).title == "A title"


@pytest.mark.parametrize(
    ("local", "words", "instant"),
    [
        ("2026-03-29T02:30", "doesn't exist in Europe/Berlin", "2026-03-29T00:30:00+00:00"),
        ("2026-10-25T02:30", "exists twice in Europe/Berlin", "2026-10-25T01:30:00+00:00"),
    ],
    ids=["put forward", "put back"],
)
def test_a_time_that_is_none_or_two_is_asked_about_and_the_choice_is_taken(ann, local, words, instant):
    article = draft()
    typed = page(article) | {"publish_time": local, "zone": "Europe/Berlin"}

    asked = press(ann, article, "save", typed)
    assert words in text_of(asked) and row(article).revision == 1
    assert instant in [iso for iso, _ in asked.context["fields"][2]["choices"]]

    assert done(press(ann, article, "save", typed, publish_time_meant=instant))
    assert row(article).publish_time == datetime.fromisoformat(instant)


def test_a_choice_for_another_time_than_the_one_typed_is_asked_about_again(ann):
    article = draft()
    typed = page(article) | {"publish_time": "2026-03-29T02:30", "zone": "Europe/Berlin"}
    answer = press(ann, article, "save", typed, publish_time_meant="2026-10-25T01:30:00+00:00")
    assert "doesn't exist" in text_of(answer) and row(article).revision == 1


def test_a_time_is_read_in_the_zone_in_which_the_page_showed_it(ann):
    """Whoever changes the zone in another tab must not move what is typed here."""
    article = draft()
    typed = page(article) | {"publish_time": "2090-06-01T09:00", "zone": "Asia/Tokyo"}
    EditorPreference.objects.create(user_id=ann.session["_auth_user_id"], time_zone="America/New_York")
    press(ann, article, "save", typed)
    assert row(article).publish_time == datetime(2090, 6, 1, 9, tzinfo=ZoneInfo("Asia/Tokyo"))


# Input


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("title", "", "This field is required."),
        ("title", "x" * 10_000, "at most 200 characters (it has 10000)"),
        ("title", "a\0b", "Null characters are not allowed."),
        ("body", " \n ", "The text is empty."),
        ("publish_time", "tomorrow", "enter it like 2027-03-01 09:00"),
        ("publish_time", "", "This field is required."),
        ("publish_time", "1066-10-14T09:00", "1066"),
        ("offline_time", "9999-12-31T23:59", "9999"),
    ],
)
def test_bad_input_changes_nothing_and_is_still_there(ann, field, value, words):
    article = draft()
    answer = press(ann, article, "save", page(article) | {field: value})
    assert words in text_of(answer)
    assert row(article).revision == 1
    assert form_of(answer)[field] == value


def test_emoji_and_markup_are_kept_and_shown_as_they_are(ann):
    title = "<script>alert('🦔')</script>"
    article = draft(title=title)
    answer = ann.get(url(article))
    assert b"<script>alert" not in answer.content
    assert row(article).title == title and form_of(answer)["title"] == title


def test_a_new_article_of_which_half_is_missing_is_refused_in_words(ann):
    answer = ann.post(ADD, {"verb": "submit", "title": "Only a title"})
    assert "This field is required." in text_of(answer)
    assert form_of(answer)["title"] == "Only a title" and not Article.objects.exists()


def test_an_unknown_button_is_a_bad_request(ann):
    article = draft()
    assert ann.post(url(article), page(article) | {"verb": "delete"}).status_code == 400
    assert row(article).revision == 1


@pytest.mark.parametrize("revision", ["", "-1", "x", "99999999999999999999"])
def test_a_form_without_a_readable_revision_changes_nothing(ann, revision):
    article = draft()
    answer = press(ann, article, "submit", page(article) | {"revision": revision})
    assert "somebody else has changed" in refused(answer) and status(article) == ArticleStatus.DRAFT


# Two editors


def test_the_second_editor_is_told_by_whom_and_nothing_is_overwritten(ann):
    bob, article = editor("bob"), draft()
    mine = page(article) | {"body": "Ann's text"}
    press(bob, article, "save", page(article) | {"title": "Bob's title", "body": "Bob's text"})

    answer = press(ann, article, "save", mine)

    assert "Text edited by bob" in text_of(answer)
    assert (row(article).title, row(article).body) == ("Bob's title", "Bob's text")
    again = form_of(answer)
    assert (again["title"], again["body"]) == ("Bob's title", "Ann's text"), "hers stays, what she left alone is his"
    assert answer.context["page"].theirs == {"body": "Bob's text"}

    assert done(press(ann, article, "save", again))
    assert (row(article).title, row(article).body) == ("Bob's title", "Ann's text")


def test_what_was_typed_into_an_article_that_is_closed_by_now_is_shown(ann):
    article = approved()
    mine = page(article) | {"title": "Too late"}
    lifecycle.publish_now(article, actor="bob")
    answer = press(ann, article, "save", mine)
    assert "Published at once by bob" in text_of(answer)
    assert answer.context["page"].kept == {"Title": "Too late"}


def test_an_approval_meanwhile_does_not_stop_a_new_time(ann):
    article = pending()
    mine = page(article) | {"publish_time": "2090-01-03T09:00"}
    lifecycle.approve(article, actor="mod")
    assert said(press(ann, article, "save", mine))[0].startswith("Moved: ")
    assert publish_task(article).execute_time == TUESDAY


def test_a_move_by_another_editor_stops_a_new_time(ann):
    article = approved()
    mine = page(article) | {"publish_time": "2090-01-03T09:00"}
    lifecycle.change_publish_time(article, MONDAY + timedelta(hours=1), actor="bob")
    answer = press(ann, article, "save", mine)
    assert "Publish time moved by bob" in text_of(answer)
    assert row(article).publish_time == MONDAY + timedelta(hours=1)


def test_an_old_page_with_nothing_typed_changes_nothing(ann):
    article = draft()
    mine = page(article)
    lifecycle.edit_content(article, title="Newer", actor="bob")
    assert said(press(ann, article, "save", mine)) == ["Nothing was changed."]
    assert row(article).title == "Newer"


# The timeline


def test_the_timeline_tells_events_tasks_and_failed_tries_with_lateness_and_links():
    boss = person("boss", "view")
    article = published()
    live = text_of(boss.get(url(article)))
    for words in (
        "Created by ann",
        "Submitted by ann",
        "Approved by mod",
        "Went live",
        "late",
        "(publication) is done",
    ):
        assert words in live
    assert "(audit) was cancelled by mod" in live
    assert b"scheduletask" not in boss.get(url(article)).content, "links only for those who may follow them"


def test_links_to_tasks_are_for_those_who_may_see_them(admin_client):
    article = approved()
    assert f"/admin/punctual/scheduletask/{publish_task(article).id}/change/" in (
        admin_client.get(url(article)).content.decode()
    )


def test_a_long_history_is_read_in_a_bounded_number_of_statements(ann, django_assert_max_num_queries):
    article = approved()
    for minute in range(30):
        lifecycle.change_publish_time(article, MONDAY + timedelta(minutes=minute), actor=ANN)
    with django_assert_max_num_queries(18):
        ann.get(url(article))


# Another text of what is planned


@pytest.mark.parametrize("make", [pending, approved])
def test_the_first_button_with_another_title_submits_it_again_and_keeps_its_time(ann, make):
    article = make(MONDAY)
    first, second = BUTTONS[status(article)][:2]
    assert (first.verb, first.hidden({"title"}), first.hidden({"publish_time"})) == ("submit", False, True)
    assert second.says("then", False, {"title"}) == "Save the text as a draft: not published until you submit it again"

    answer = press(ann, article, first.verb, title="A corrected title")
    assert said(answer) == ["Submitted. If it is approved, it goes live on Mon 2 Jan 2090 09:00 UTC."]
    assert (status(article), row(article).title) == (ArticleStatus.PENDING_AUDIT, "A corrected title")
    assert row(article).publish_time == MONDAY and audit_task(article).live


# Approved and rejected by hand


def verdict(client, article: int, which: str, reason: str = "well written", **more: str):
    client.cookies.pop("messages", None)
    sent = {"revision": str(row(article).revision), "verdict": which, "reason": reason}
    return client.post(f"{url(article).removesuffix('change/')}audit/", sent | more)


@pytest.fixture
def mod():
    return person("mod", "view", "audit")


def test_a_person_approves_or_rejects_with_a_reason_that_the_author_reads(ann, mod):
    good, bad, late = pending(MONDAY), pending(MONDAY), pending(past())
    assert "Approve or reject it by hand" in text_of(mod.get(url(good)))
    assert said(verdict(mod, good, "approve")) == ["Approved: it goes live on Mon 2 Jan 2090 09:00 UTC."]
    assert status(good) == ArticleStatus.AUDIT_SUCCESS and publish_task(good).execute_time == MONDAY
    assert not audit_task(good).live
    assert "Approved by mod: well written" in text_of(ann.get(url(good)))
    verdict(mod, bad, "reject", "dull")
    assert (status(bad), row(bad).audit_reason, audit_task(bad).live) == (ArticleStatus.AUDIT_FAIL, "dull", False)
    assert "Rejected: dull" in text_of(ann.get(url(bad)))
    assert "goes live at once" in said(verdict(mod, late, "approve"))[0]


def test_a_verdict_is_about_the_text_that_was_read_and_needs_a_reason(mod):
    article = pending(MONDAY)
    read = row(article).revision
    lifecycle.edit_content(article, body="Another text", actor="bob")
    lifecycle.submit(article, actor="bob")
    answer = verdict(mod, article, "approve", revision=str(read))
    assert "somebody else has changed the article" in text_of(answer) and "Text edited by bob" in text_of(answer)
    assert "Another text" in text_of(answer)
    for which, reason in (("approve", " "), ("reject", ""), ("reject", "x" * 2_001), ("publish", "why not")):
        assert "Nothing was changed" in text_of(verdict(mod, article, which, reason)), (which, reason)
    assert status(article) == ArticleStatus.PENDING_AUDIT
    verdict(mod, article, "approve")
    assert "There is nothing to decide" in text_of(verdict(mod, article, "reject", revision="5"))
    assert status(article) == ArticleStatus.AUDIT_SUCCESS


# As readers will see it


def test_a_preview_shows_what_is_saved_or_typed_and_writes_nothing(ann):
    article = draft(title="<b>News</b>", body="One.\n\nTwo & three.")
    saved = ann.get(f"{url(article).removesuffix('change/')}preview/").content.decode()
    assert "<h1>&lt;b&gt;News&lt;/b&gt;</h1>" in saved and "<p>One.</p>\n\n<p>Two &amp; three.</p>" in saved
    typed = ann.post(f"{ADD.removesuffix('add/')}preview/", page(article) | {"title": "Another", "body": "Typed"})
    assert "Another" in text_of(typed) and "Nothing has been saved" in text_of(typed)
    assert (row(article).title, row(article).revision, Article.objects.count()) == ("<b>News</b>", 1, 1)
    assert ann.get(f"{ADD.removesuffix('add/')}preview/").status_code == 302

"""An editor's day in a real browser: articles go live under their eyes, times move, and nobody overwrites anybody."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone
from playwright.sync_api import Page, expect

from articles_app import lifecycle
from articles_app.models import Article
from tasks_app.client import Operator, cancel_tasks
from tasks_app.models import TaskBatch
from tests.support.articles import MONDAY, approved, draft, pending, publish_task, published, row
from tests.support.browser import PASSWORD, Visits, person
from tests.support.editor import EDIT, LIST, MOVE, url
from tests.support.stack import url_of_test_database
from tests.support.wait import wait_until

BERLIN = ZoneInfo("Europe/Berlin")
RIGHTS = [f"articles_app.{one}_article" for one in EDIT]


@pytest.fixture
def ann():
    return person("ann", *RIGHTS)


def typed(at) -> str:
    return f"{at.astimezone(BERLIN):%Y-%m-%dT%H:%M:%S}"


def open_page(visits: Visits, user, path: str, **options: object) -> Page:
    """In Berlin, and with a mark that a reload would wipe out."""
    page = visits.page(user, path, timezone_id="Europe/Berlin", **options)
    try:
        expect(page.locator("#pa-zone")).to_contain_text("Europe/Berlin", timeout=8_000)
    except AssertionError:
        # On a busy machine Chromium may run a page before it has heard which zone it is to be in.
        page.evaluate("sessionStorage.clear()")
        page.reload()
    expect(page.locator("#pa-zone")).to_contain_text("Europe/Berlin")
    page.evaluate("window.notReloaded = true")
    return page


def badge(page: Page):
    return page.locator(".pa-badge").first


def hint(page: Page):
    return page.locator(".pa-hint").first


def messages(page: Page):
    return page.locator("#main")


# Going live


def test_an_article_is_created_submitted_approved_and_goes_live_without_a_reload(visits, ann, stack):
    stack.beat()
    stack.worker()
    page = open_page(visits, ann, f"{LIST}add/")
    at = timezone.now() + timedelta(days=1)
    page.get_by_label("Title").fill("On time")
    page.get_by_label("Text").fill("Nothing that anybody would object to.")
    page.get_by_label("Publish on").fill(typed(at))
    page.get_by_role("button", name=f"Create, submit, and publish on {at.astimezone(BERLIN):%a}").click()

    expect(messages(page)).to_contain_text("Submitted. If it is approved, it goes live on")
    page.evaluate("window.notReloaded = true")
    expect(badge(page)).to_have_text("Scheduled")
    expect(hint(page)).to_contain_text("Goes live in 23 h")
    expect(page.get_by_role("button", name="Publish now")).to_be_visible()
    assert page.evaluate("window.notReloaded") is True

    overview = open_page(visits, ann, LIST)
    page.get_by_label("Publish on").fill(typed(timezone.now() + timedelta(seconds=6)))
    page.get_by_role("button", name="Save the new times").click()
    expect(messages(page)).to_contain_text("Moved: it goes live on")
    page.evaluate("window.notReloaded = true")
    for one in (page, overview):
        expect(badge(one)).to_have_text("Live")
        expect(hint(one)).to_contain_text("Live since")
        assert one.evaluate("window.notReloaded") is True
    expect(page.get_by_role("button", name="Take offline now")).to_be_visible()
    expect(page.get_by_role("heading", name="Timeline").locator("..")).to_contain_text("Went live")
    expect(page.locator("#pa-said")).to_contain_text("“On time”: Live.")


def test_a_new_time_is_answered_in_each_of_its_three_forms(visits, ann, stack):
    """Waiting, running (its batch waits for a row that this test holds), and live already."""
    later = timezone.now() + timedelta(days=400)
    waiting, first, running = approved(), approved(), approved()
    page = open_page(visits, ann, url(waiting))
    page.get_by_label("Publish on").fill(typed(later))
    page.get_by_role("button", name="Save the new times: publish on").click()
    expect(messages(page)).to_contain_text("Moved: it goes live on")

    with transaction.atomic():
        for article in (first, running):
            lifecycle.change_publish_time(article, timezone.now(), actor="mod")
    pages = {article: open_page(visits, ann, url(article)) for article in (first, running)}
    for page in pages.values():
        page.get_by_label("Publish on").fill(typed(later))
    with transaction.atomic():
        Article.objects.select_for_update().get(id=first)
        stack.beat()
        # The worker may wait for our row for longer than a web request does.
        stack.worker(DATABASE_URL=f"{url_of_test_database()}&options=-c%20lock_timeout%3D30s")
        wait_until(lambda: TaskBatch.objects.filter(task_type="ARTICLE_PUBLISH", started_at__isnull=False).exists())
        pages[running].get_by_role("button", name="Save the new times").click()
        expect(messages(pages[running])).to_contain_text(
            "It was already running, so the running attempt was superseded and a new one is scheduled for"
        )
    expect(badge(pages[first])).to_have_text("Live")
    pages[first].get_by_role("button", name="Save the new times").click()
    expect(messages(pages[first])).to_contain_text("Already published at")
    expect(messages(pages[first])).to_contain_text("nothing was changed.")

    assert publish_task(running).execute_time == row(running).publish_time == later.replace(microsecond=0)
    assert (row(first).status, row(running).status) == ("PUBLISHED", "AUDIT_SUCCESS")


# Hints and buttons


def test_hints_count_by_themselves_and_say_why_something_is_late(visits, ann):
    late, soon = approved(timezone.now() - timedelta(seconds=1)), approved(timezone.now() + timedelta(seconds=50))
    page = open_page(visits, ann, LIST)
    seen = {}
    for article in (late, soon):
        place = page.locator(f'.pa-hint[data-article="{article}"]')
        seen[article] = (place, place.text_content())
    for place, text in seen.values():
        expect(place).not_to_have_text(text)
    expect(seen[late][0]).to_contain_text("s late, because no beat is running")
    expect(seen[soon][0]).to_contain_text("Goes live in ")
    lifecycle.publish_now(soon, actor="bob")
    expect(page.locator(f'[data-badge="{soon}"]')).to_have_text("Live")

    page.context.set_offline(True)
    expect(page.get_by_text("The server isn't answering")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("The server isn't answering")).to_be_hidden()
    visits.forgive("ERR_INTERNET_DISCONNECTED")
    assert page.evaluate("window.notReloaded") is True


def test_the_buttons_say_what_they_will_do_while_one_types(visits, ann):
    page = open_page(visits, ann, url(pending(MONDAY)))
    again = page.get_by_role("button", name="Save the text, submit it again")
    expect(again).to_be_hidden()
    page.get_by_label("Publish on").fill("2090-03-03T09:00")
    expect(page.get_by_role("button", name="publish on Fri 3 Mar 2090 09:00 Europe/Berlin")).to_be_visible()
    page.get_by_label("Text").fill("Another text")
    expect(again).to_have_text("Save the text, submit it again, and publish on Fri 3 Mar 2090 09:00 Europe/Berlin")
    page.get_by_label("Publish on").fill("2020-03-03T09:00")
    expect(again).to_have_text("Save the text, submit it again, and publish as soon as it is approved")


def test_a_draft_is_submitted_with_the_keyboard_alone(visits, ann):
    article = draft(title="<script>document.title = 'broken'</script>")
    page = open_page(visits, ann, url(article))
    page.get_by_label("Title").focus()
    for label in ("Text", "Publish on", "Take offline on"):
        tab_to(page, page.get_by_label(label))
    tab_to(page, page.get_by_role("button", name="Submit, and publish on"))
    page.keyboard.press("Enter")
    expect(messages(page)).to_contain_text("Submitted.")
    expect(page).to_have_title("<script>document.title = 'broken'</script> | Punctual")


def tab_to(page: Page, target) -> None:
    """A date field has several stops; the next field is not many away."""
    for _ in range(10):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{target} can't be reached with the Tab key")


def test_a_second_click_on_a_button_sends_nothing(visits, ann):
    page = open_page(visits, ann, url(draft()))
    stopped = page.evaluate(
        """() => {
            const stopped = [];
            document.addEventListener("submit", (event) => {
                stopped.push(event.defaultPrevented);
                event.preventDefault();
            });
            const button = document.querySelector("button[value=save]");
            button.click();
            button.click();
            return stopped;
        }"""
    )
    assert stopped == [False, True]


# What is not going to happen


def test_open_pages_say_at_once_that_a_publication_was_cancelled_and_by_whom(visits, ann):
    article = approved(timezone.now() + timedelta(seconds=60))
    pages = [open_page(visits, ann, url(article)), open_page(visits, ann, LIST)]
    for page in pages:
        expect(hint(page)).to_contain_text("Goes live in ")

    cancel_tasks([publish_task(article).id], Operator("olga", "not today"))

    for page in pages:
        expect(badge(page)).to_have_text("Not scheduled")
        expect(hint(page)).to_contain_text("cancelled by olga (not today): it won't go live.")
        assert page.evaluate("window.notReloaded") is True
    expect(pages[0].locator("#pa-said")).to_contain_text("Not scheduled")
    pages[1].get_by_role("link", name="Failed").click()
    expect(pages[1].locator(f'[data-badge="{article}"]')).to_have_text("Not scheduled")


def test_a_countdown_that_ends_makes_up_no_reason(visits, ann):
    """Nobody runs. Until the server has looked, the page says that it is late, and not why."""
    page = open_page(visits, ann, url(published(offline_time=timezone.now() + timedelta(days=1))))
    page.evaluate(
        """() => {
            window.seen = new Set();
            const hint = document.querySelector(".pa-hint");
            hint.dataset.at = Date.now() / 1000 + 1;
            new MutationObserver(() => window.seen.add(hint.textContent)).observe(hint, { childList: true });
            window.fetch = () => new Promise(() => {});
        }"""
    )
    expect(hint(page)).to_contain_text("Should have gone offline ")
    assert not [text for text in page.evaluate("[...window.seen]") if "because" in text]


def test_enter_in_a_field_presses_nothing_and_withdrawing_asks(visits, ann):
    article = approved()
    page = open_page(visits, ann, url(article))
    page.get_by_label("Title").fill("Another title")
    page.get_by_label("Title").press("Enter")
    page.get_by_label("Take offline on").press("Enter")
    page.get_by_role("button", name="Save the text as a draft").click()

    expect(page.get_by_role("alert")).to_contain_text("Save the text and withdraw the article?")
    expect(page.get_by_role("alert")).to_be_focused()
    assert (row(article).revision, row(article).status) == (3, "AUDIT_SUCCESS"), "Enter has sent nothing"
    page.get_by_label("Title").press("Enter")
    page.get_by_role("button", name="No, change nothing").click()
    expect(page.get_by_role("alert")).to_contain_text("What you typed is still here.")
    expect(page.get_by_label("Title")).to_have_value("Another title")
    page.get_by_role("button", name="Save the text as a draft").click()
    page.get_by_role("button", name="Yes, save the text and withdraw it").click()
    expect(messages(page)).to_contain_text("The text was saved, and the article withdrawn")
    assert row(article).status == "DRAFT"


def test_a_time_that_has_passed_is_asked_about(visits, ann):
    article = approved()
    page = open_page(visits, ann, url(article))
    page.get_by_label("Publish on").fill("2020-03-03T09:00")
    page.get_by_role("button", name="Save the new times").click()
    expect(page.get_by_role("alert")).to_contain_text("Publish it immediately?")
    page.get_by_label("Publish on").fill("2090-03-03T09:00")
    page.get_by_role("button", name="Save the new times").click()
    expect(messages(page)).to_contain_text("Moved: it goes live on Fri 3 Mar 2090 09:00")


# Sent twice, and logged out


def test_back_and_the_same_button_again_lead_to_the_article_that_was_made(visits, ann):
    page = open_page(visits, ann, f"{LIST}add/")
    page.get_by_label("Title").fill("Only once")
    page.get_by_label("Text").fill("Some text")
    page.get_by_role("button", name="Create as a draft").click()
    expect(messages(page)).to_contain_text("Created.")
    made = page.url
    page.go_back()
    page.get_by_label("Title").fill("Only once")
    page.get_by_label("Text").fill("Some text")
    page.get_by_role("button", name="Create as a draft").click()
    expect(messages(page)).to_contain_text("nothing was created twice")
    assert page.url == made and Article.objects.count() == 1


def test_what_was_typed_is_back_after_the_login_ran_out(visits, ann):
    article = draft()
    page = open_page(visits, ann, url(article))
    page.get_by_label("Text").fill("Hours of work")
    Session.objects.all().delete()
    page.get_by_role("button", name="Save the draft").click()
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()

    expect(messages(page)).to_contain_text("What you typed is back")
    expect(page.get_by_label("Text")).to_have_value("Hours of work")
    page.get_by_role("button", name="Save the draft").click()
    expect(messages(page)).to_contain_text("The text was saved.")
    assert row(article).body == "Hours of work"


def test_what_was_typed_is_back_after_a_login_in_another_tab(visits, ann):
    article = draft()
    page = open_page(visits, ann, url(article))
    page.get_by_label("Text").fill("Hours of work")
    other = visits.listen(page.context.new_page())
    other.goto("/admin/login/?next=/admin/")
    Session.objects.all().delete()
    other.goto("/admin/login/")
    other.get_by_label("Username").fill("ann")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Log in").click()
    expect(other).to_have_url(f"{visits.url}/admin/")

    page.get_by_role("button", name="Save the draft").click()
    expect(messages(page)).to_contain_text("What you typed is back")
    expect(page.get_by_label("Text")).to_have_value("Hours of work")


# Two editors


def test_the_second_editor_is_told_what_changed_and_loses_nothing(visits, ann):
    bob = person("bob", *RIGHTS)
    article = draft()
    hers, his = open_page(visits, ann, url(article)), open_page(visits, bob, url(article))
    hers.get_by_label("Text").fill("Ann's text")
    his.get_by_label("Title").fill("Bob's title")
    his.get_by_role("button", name="Save the draft").click()
    expect(messages(his)).to_contain_text("The text was saved.")

    hers.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # She comes back to her tab.
    expect(hers.locator("#pa-meanwhile")).to_contain_text("The article has been changed in the meantime")
    hers.get_by_role("button", name="Save the draft").click()

    alert = hers.get_by_role("alert")
    expect(alert).to_contain_text("Nothing was changed: somebody else has changed the article")
    expect(alert).to_contain_text("Text edited by bob")
    expect(alert).to_be_focused()
    expect(hers.get_by_label("Text")).to_have_value("Ann's text")
    expect(hers.get_by_label("Title")).to_have_value("Bob's title")
    assert (row(article).title, row(article).body) == ("Bob's title", "A body")
    hers.get_by_role("button", name="Save the draft").click()
    expect(messages(hers)).to_contain_text("The text was saved.")
    assert (row(article).title, row(article).body) == ("Bob's title", "Ann's text")


# The clock is changed


def test_a_time_that_does_not_exist_is_asked_about(visits, ann):
    article = draft()
    page = open_page(visits, ann, url(article))
    page.get_by_label("Publish on").fill("2027-03-28T02:30")
    page.get_by_role("button", name="Save the draft").click()
    expect(messages(page)).to_contain_text("Sun 28 Mar 2027 02:30 doesn't exist in Europe/Berlin")
    page.get_by_label("Sun 28 Mar 2027 03:30 (UTC+02:00), which is 01:30 UTC").check()
    page.get_by_role("button", name="Save the draft").click()
    expect(messages(page)).to_contain_text("The publish time is now Sun 28 Mar 2027 03:30 Europe/Berlin")
    assert f"{row(article).publish_time:%H:%M}" == "01:30"


# Many at once


def test_many_are_moved_after_a_preview(visits, ann):
    for hour in range(3):
        approved(MONDAY + timedelta(hours=hour), title=f"Article {hour}")
    lifecycle.publish_now(approved(), actor="bob")
    page = open_page(visits, ann, LIST)
    page.locator("#action-toggle").check()
    page.get_by_role("combobox").select_option(label="Move publish times …")
    page.get_by_role("button", name="Run").click()
    page.get_by_label("Days").fill("1")
    page.get_by_role("button", name="Preview").click()

    expect(messages(page)).to_contain_text(
        "3 would move: the first to Tue 3 Jan 2090 10:00 Europe/Berlin, the last to Tue 3 Jan 2090 12:00 Europe/Berlin"
    )
    expect(messages(page)).to_contain_text("1 too late")
    page.get_by_role("button", name="Move 3 articles as shown").click()
    expect(messages(page)).to_contain_text("Moved 3 articles, the first to Tue 3 Jan 2090 10:00 Europe/Berlin")
    assert Article.objects.filter(publish_time__gte=MONDAY + timedelta(days=1)).count() == 3


# Rights


def test_whoever_may_only_look_has_no_buttons_and_is_refused_by_the_server(visits):
    vera = person("vera", "articles_app.view_article")
    article = draft()
    page = open_page(visits, vera, url(article))
    expect(messages(page)).to_contain_text("You can view this article, but not change it.")
    expect(page.locator("#main button[name=verb]")).to_have_count(0)
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    form = {"csrfmiddlewaretoken": token, "verb": "submit", "step": "move", "revision": "1", "chosen": f"{article}:1"}
    for address in (url(article), f"{LIST}add/", MOVE):
        assert page.request.post(address, form=form).status == 403
    assert row(article).revision == 1


# Every size and scheme


@pytest.mark.parametrize(("scheme", "pages"), [("light", 1), ("dark", 4)], ids=["light", "dark"])
def test_pages_fit_a_narrow_window_in_light_and_dark(visits, ann, scheme, pages):
    article = approved(title="A rather long title of an article that has to fit into a narrow window, too")
    options = {"viewport": {"width": 400, "height": 800}, "color_scheme": scheme}
    page = open_page(visits, ann, LIST, **options)
    for path in (url(article), LIST, f"{LIST}add/", f"{LIST}zone/")[:pages]:
        page.goto(path)
        expect(page.locator("#content")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, path
        light = page.evaluate("getComputedStyle(document.getElementById('main')).backgroundColor")
        assert ("255, 255, 255" in light) is (scheme == "light"), path

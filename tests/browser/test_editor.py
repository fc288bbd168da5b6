"""An editor's day in a real browser: buttons say what they do, nothing typed is lost, and nobody overwrites anybody."""

import re

from django.contrib.sessions.models import Session
from django.db.models import F
from playwright.sync_api import Route, expect

from articles_app import lifecycle
from articles_app.models import Article
from tests.support.articles import MONDAY, approved, draft, pending, row
from tests.support.browser import PASSWORD, person
from tests.support.clients import client_of
from tests.support.editor import LIST, RIGHTS, url
from tests.support.editor_pages import messages, open_page
from tests.support.wait import wait_until
from tests.support.walks import walks

# What the browser keeps of what was typed. Not with wait_for_function, which would need eval.
KEPT = "Object.keys(localStorage).filter((key) => key.startsWith('punctual_article'))"

# Whether each of two clicks was kept from sending anything, by whoever was asked before this.
CLICK_TWICE = """() => {
    const stopped = [];
    document.addEventListener("submit", (event) => {
        stopped.push(event.defaultPrevented);
        event.preventDefault();
    });
    const button = document.querySelector("button[data-text]:not([hidden])");
    button.click();
    button.click();
    return stopped;
}"""

# Buttons


def test_the_buttons_say_what_they_will_do_while_one_types_and_a_second_click_sends_nothing(visits, ann):
    page = open_page(visits, ann, url(pending(MONDAY)))
    again = page.get_by_role("button", name="Save the text, submit it again")
    expect(again).to_be_hidden()
    page.get_by_label("Publish on").fill("2090-03-03T09:00")
    expect(page.get_by_role("button", name="publish on Fri 3 Mar 2090 09:00 Europe/Berlin")).to_be_visible()
    page.get_by_label("Text").fill("Another text")
    expect(again).to_have_text("Save the text, submit it again, and publish on Fri 3 Mar 2090 09:00 Europe/Berlin")
    page.get_by_label("Publish on").fill("2020-03-03T09:00")
    expect(again).to_have_text("Save the text, submit it again, and publish as soon as it is approved")
    assert page.evaluate(CLICK_TWICE) == [False, True]


@walks("submit a draft by keyboard")
def test_a_draft_is_submitted_with_the_keyboard_alone(walk, visits, ann):
    draft(title="<script>document.title = 'broken'</script>")
    page = walk.take(open_page(visits, ann, LIST, viewport=walk.viewport))
    walk.to_main_part()
    walk.tab_to(page.get_by_role("link", name="<script>document.title"))
    walk.press("Enter")
    walk.to_main_part()
    for label in ("Title", "Text", "Publish on", "Take offline on"):
        walk.tab_to(page.get_by_label(label))
    walk.tab_to(page.get_by_role("button", name="Submit, and publish on"))
    walk.press("Enter")
    expect(messages(page)).to_contain_text("Submitted.")
    expect(page).to_have_title("<script>document.title = 'broken'</script> | Articles | Punctual")


@walks("correct a planned article")
def test_a_planned_article_is_corrected_and_submitted_again(walk, visits, ann):
    article = approved(MONDAY, title="Planned")
    page = walk.take(open_page(visits, ann, LIST, viewport=walk.viewport))
    walk.click(page.get_by_role("link", name="Planned"))
    walk.fill(page.get_by_label("Text"), "Another text")
    walk.click(page.get_by_role("button", name="Save the text, submit it again, and publish on"))
    expect(messages(page)).to_contain_text("ubmitted")
    assert (row(article).status, row(article).body) == ("PENDING_AUDIT", "Another text")


def test_enter_in_a_field_presses_nothing_and_withdrawing_asks(visits, ann):
    article = approved()
    page = open_page(visits, ann, url(article))
    page.get_by_label("Title").fill("Another title")
    page.get_by_label("Title").press("Enter")
    page.get_by_label("Take offline on").press("Enter")
    expect(page.get_by_label("Title")).to_have_value("Another title")
    assert page.evaluate("window.notReloaded") is True
    page.get_by_role("button", name="Save the text as a draft").click()

    expect(page.get_by_role("alert")).to_contain_text("Save the text and withdraw the article?")
    expect(page.get_by_role("alert")).to_be_focused()
    assert (row(article).revision, row(article).status) == (3, "AUDIT_SUCCESS"), "Enter has sent nothing"
    page.get_by_label("Title").press("Enter")
    expect(page.get_by_label("Title")).to_have_value("Another title")
    page.get_by_role("button", name="Yes, save the text and withdraw it").click()
    expect(messages(page)).to_contain_text("The text was saved, and the article withdrawn")
    assert row(article).status == "DRAFT"


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


def test_what_was_typed_is_offered_back_to_who_typed_it_until_it_is_saved(visits, ann):
    article = draft()
    page = open_page(visits, ann, url(article))
    page.get_by_label("Text").fill("Hours of work")
    page.reload()  # as after a crash, or when the way to log in again was another one
    kept = page.locator("#pa-kept")
    expect(kept).to_contain_text("Hours of work")
    expect(page.get_by_label("Text")).to_have_value("A body")
    page.get_by_role("button", name="Put it back into the form").click()
    expect(page.get_by_label("Text")).to_have_value("Hours of work")
    lifecycle.edit_content(article, body="Bob's text", actor="bob")  # what others did meanwhile is told as ever
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_role("alert")).to_contain_text("somebody else has changed the article")
    page.get_by_role("button", name="Save the draft").click()
    expect(messages(page)).to_contain_text("The text was saved.")
    expect(page.get_by_label("Text")).to_have_value("Hours of work")
    expect(kept).to_be_hidden()
    assert page.evaluate(KEPT) == []

    page.get_by_label("Text").fill("Nobody else's business")
    wait_until(lambda: page.evaluate(KEPT))
    session = client_of(person("bob", *RIGHTS)).cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": visits.url}])
    page.reload()
    expect(page.get_by_label("Text")).to_have_value("Hours of work")
    expect(kept).to_be_hidden()
    assert "business" not in page.evaluate("JSON.stringify(localStorage)")


def test_a_new_article_that_was_made_is_not_offered_again_and_one_that_was_not_is(visits, ann):
    page = open_page(visits, ann, f"{LIST}add/")
    page.get_by_label("Title").fill("Only typed")
    wait_until(lambda: page.evaluate(KEPT))
    page.goto(f"{LIST}add/")
    page.get_by_role("button", name="Put it back into the form").click()
    expect(page.get_by_label("Title")).to_have_value("Only typed")
    page.get_by_label("Text").fill("Some text")
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Preview in a new tab").click()
    expect(visits.listen(opened.value).get_by_role("heading", name="Only typed")).to_be_visible()
    opened.value.close()
    page.get_by_role("button", name="Create as a draft").click()
    expect(messages(page)).to_contain_text("Created.")
    page.goto(f"{LIST}add/")
    expect(page.get_by_label("Title")).to_have_value("")
    expect(page.locator("#pa-kept")).to_be_hidden()


# Two editors


@walks("edit what somebody else edits")
def test_the_second_editor_is_told_what_changed_and_loses_nothing(walk, visits, ann):
    bob = person("bob", *RIGHTS)
    article = draft(title="Shared")
    his = open_page(visits, bob, url(article))
    hers = walk.take(open_page(visits, ann, LIST, viewport=walk.viewport))
    walk.click(hers.get_by_role("link", name="Shared"))
    walk.fill(hers.get_by_label("Text"), "Ann's text")
    his.get_by_label("Title").fill("Bob's title")
    his.get_by_role("button", name="Save the draft").click()
    expect(messages(his)).to_contain_text("The text was saved.")

    hers.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # She comes back to her tab.
    expect(hers.locator("#pa-meanwhile")).to_contain_text("The article has been changed in the meantime")
    walk.click(hers.get_by_role("button", name="Save the draft"))

    alert = hers.get_by_role("alert")
    expect(alert).to_contain_text("Nothing was changed: somebody else has changed the article")
    expect(alert).to_contain_text("Text edited by bob")
    expect(alert).to_be_focused()
    expect(hers.get_by_label("Text")).to_have_value("Ann's text")
    expect(hers.get_by_label("Title")).to_have_value("Bob's title")
    assert (row(article).title, row(article).body) == ("Bob's title", "A body")
    walk.click(hers.get_by_role("button", name="Save the draft"))
    expect(messages(hers)).to_contain_text("The text was saved.")
    assert (row(article).title, row(article).body) == ("Bob's title", "Ann's text")


def test_what_is_typed_before_the_scripts_have_come_is_not_lost(visits, ann):
    article = draft(title="Slow")
    page = open_page(visits, ann, LIST)
    late: list[Route] = []
    page.route(re.compile("/articles_app/(form|keep)[.a-z0-9]*js"), lambda route: late.append(route))
    page.goto(url(article), wait_until="commit")
    page.get_by_label("Text").fill("Ann's text")
    for one in late:
        one.continue_()
    page.unroute_all(behavior="wait")
    page.wait_for_load_state("load")

    Article.objects.filter(pk=article).update(title="Another", revision=F("revision") + 1)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    expect(page.locator("#pa-meanwhile")).to_contain_text("The article has been changed in the meantime")
    expect(page.get_by_label("Text")).to_have_value("Ann's text")
    page.goto(url(article))
    expect(page.locator("#pa-kept")).to_contain_text("Ann's text")

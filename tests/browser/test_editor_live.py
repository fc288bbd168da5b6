"""Articles go live, or don't, under an editor's eyes in a real browser: no page has to be loaded again to tell."""

from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import expect

from articles_app import lifecycle
from django_punctual import Operator, cancel_tasks
from tests.support.articles import approved, publish_task, published
from tests.support.editor import LIST, url
from tests.support.editor_pages import BERLIN, badge, hint, messages, open_page, typed
from tests.support.walks import walks


@walks("write an article, move it and take it offline")
def test_an_article_is_created_submitted_approved_and_goes_live_without_a_reload(walk, visits, ann, stack):
    stack.beat()
    stack.worker()
    page = walk.take(open_page(visits, ann, LIST, viewport=walk.viewport))
    at = timezone.now() + timedelta(days=1)
    walk.click(page.get_by_role("link", name="Add article"))
    walk.fill(page.get_by_label("Title"), "On time")
    walk.fill(page.get_by_label("Text"), "Nothing that anybody would object to.")
    walk.fill(page.get_by_label("Publish on"), typed(at))
    walk.click(page.get_by_role("button", name=f"Create, submit, and publish on {at.astimezone(BERLIN):%a}"))

    expect(messages(page)).to_contain_text("Submitted. If it is approved, it goes live on")
    page.evaluate("window.notReloaded = true")
    expect(badge(page)).to_have_text("Scheduled")
    expect(hint(page)).to_contain_text("Goes live in 23 h")
    expect(page.get_by_role("button", name="Publish now")).to_be_visible()
    assert page.evaluate("window.notReloaded") is True

    overview = open_page(visits, ann, LIST)
    walk.fill(page.get_by_label("Publish on"), typed(timezone.now() + timedelta(seconds=6)))
    walk.click(page.get_by_role("button", name="Save the new times"))
    expect(messages(page)).to_contain_text("Moved: it goes live on")
    page.evaluate("window.notReloaded = true")
    for one in (page, overview):
        expect(badge(one)).to_have_text("Live")
        expect(hint(one)).to_contain_text("Live since")
        assert one.evaluate("window.notReloaded") is True
    expect(page.get_by_role("heading", name="Timeline").locator("..")).to_contain_text("Went live")
    expect(page.locator("#pa-said")).to_contain_text("“On time”: Live.")
    walk.click(page.get_by_role("button", name="Take offline now"))
    expect(badge(page)).to_have_text("Offline")


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

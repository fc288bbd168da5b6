"""The calendar of articles in a real browser: dragged, moved with the keyboard, overtaken, and on a phone."""

from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, expect

from articles_app import lifecycle
from tests.support.articles import MONDAY, TUESDAY, approved, row
from tests.support.editor import LIST
from tests.support.editor_pages import messages, open_page
from tests.support.walks import walks

WEEK = f"{LIST}calendar/?week=2090-01-02"


def card(page: Page, article: int):
    return page.locator(f"#pa-article-{article}")


def slot(page: Page, day: str, hour: str):
    return page.locator(f'.pa-slot[data-day="{day}"][data-hour="{hour}"]')


def drag(page: Page, article: int, to) -> None:
    """By its title, as people do."""
    grabbed, place = card(page, article).get_by_role("link").first.bounding_box(), to.bounding_box()
    page.mouse.move(grabbed["x"] + 5, grabbed["y"] + 5)
    page.mouse.down()
    page.mouse.move(place["x"] + 5, place["y"] + 5)
    page.mouse.move(place["x"] + 9, place["y"] + 9)
    page.mouse.up()


def test_an_article_follows_others_is_dragged_to_another_hour_and_a_conflict_shows_where_it_is(visits, ann):
    article = approved(TUESDAY, title="News")
    page = open_page(visits, ann, WEEK)
    expect(slot(page, "2090-01-03", "10")).to_contain_text("News")
    lifecycle.change_publish_time(article, MONDAY + timedelta(minutes=15), actor="bob")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(slot(page, "2090-01-02", "10")).to_contain_text("News")
    expect(card(page, article)).to_have_count(1)
    hours = page.locator(".pa-hours span:not(:empty)").all()
    assert [one.inner_text() for one in hours] == [f"{hour:02}:00" for hour in range(24)]
    for hour in (0, 1, 10, 23):  # each beside its own slots
        assert hours[hour].bounding_box()["y"] == slot(page, "2090-01-02", f"{hour:02}").bounding_box()["y"]
    drag(page, article, slot(page, "2090-01-04", "12"))
    expect(messages(page)).to_contain_text("“News”: Moved: it goes live on Wed 4 Jan 2090 12:15 Europe/Berlin")
    expect(slot(page, "2090-01-04", "12")).to_contain_text("News")
    expect(card(page, article)).to_be_focused()
    assert row(article).publish_time == datetime(2090, 1, 4, 11, 15, tzinfo=UTC)
    assert page.evaluate("window.notReloaded") is True

    # Bob is faster, and this page has not heard of it.
    page.evaluate(
        """() => {
            const send = window.fetch;
            window.fetch = (where, how) => (how?.method ? send(where, how) : new Promise(() => {}));
        }"""
    )
    lifecycle.change_publish_time(article, TUESDAY, actor="bob")
    drag(page, article, slot(page, "2090-01-06", "08"))
    expect(page.get_by_role("alert")).to_contain_text("somebody else has changed the article")
    expect(page.get_by_role("alert")).to_contain_text("Publish time moved by bob")
    expect(page.locator("#pa-refused")).to_be_focused()
    expect(slot(page, "2090-01-03", "10")).to_contain_text("News")
    assert row(article).publish_time == TUESDAY
    page.get_by_role("button", name="Move it").click()
    expect(messages(page)).to_contain_text("Fri 6 Jan 2090 08:15")


@walks("move an article in the calendar")
def test_it_is_moved_without_dragging_and_on_a_phone_the_week_is_a_list_by_day(walk, visits, ann):
    article = approved(MONDAY, title="News")
    page = walk.take(open_page(visits, ann, WEEK, viewport=walk.viewport))
    assert page.evaluate("document.documentElement.scrollWidth") <= walk.viewport["width"]
    if walk.width == "phone":
        expect(page.get_by_role("region", name="Mon 2 Jan 2090")).to_contain_text("Goes live in")
        expect(page.get_by_role("region", name="Tue 3 Jan 2090")).to_contain_text("Nothing")
    walk.click(page.get_by_role("link", name="Move “News”"))
    field = page.get_by_label("New publish time")
    expect(field).to_be_focused()
    walk.fill(field, "2090-01-07T18:00")
    walk.press("Enter")
    expect(messages(page)).to_contain_text("Moved: it goes live on Sat 7 Jan 2090 18:00 Europe/Berlin")
    if walk.width == "phone":
        expect(page.get_by_role("region", name="Sat 7 Jan 2090")).to_contain_text("News")
    assert row(article).publish_time == datetime(2090, 1, 7, 17, tzinfo=UTC)

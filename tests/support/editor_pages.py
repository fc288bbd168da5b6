"""The editor's pages in a real browser: opened in Berlin, and what to look for in them."""

from zoneinfo import ZoneInfo

from playwright.sync_api import Page, expect

from tests.support.browser import Visits

BERLIN = ZoneInfo("Europe/Berlin")


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

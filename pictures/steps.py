"""From the address of a picture to what it shows: what somebody would click."""

from playwright.sync_api import Page


def open_draft(page: Page) -> None:
    page.get_by_role("link", name="Winter opening hours").click()


def preview_move(page: Page) -> None:
    page.locator("#action-toggle").check()
    page.locator("select[name=action]").select_option(label="Move publish times …")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("[name=days]").fill("1")
    page.get_by_role("button", name="Preview", exact=True).click()


def retry_all(page: Page) -> None:
    page.get_by_label("Everything that matches").check()
    page.get_by_role("button", name="Retry").click()


def open_incident(page: Page) -> None:
    page.get_by_role("link", name="480 tasks").click()


def open_subscription(page: Page) -> None:
    page.get_by_role("link", name="billing").click()


def open_campaign(page: Page) -> None:
    page.locator("table a").first.click()

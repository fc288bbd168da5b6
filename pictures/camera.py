"""Opens a page as somebody, waits until it shows what the picture is about, and takes it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.test import Client
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from .scenes.people import person
from .table import Picture

__all__ = ["Error", "open_browser", "take"]
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_MS = 60_000
# The page scrolls its menu to where one is, by the height that the window had.
_MENU_FROM_ITS_TOP = """() => {
    const inside = [...document.querySelectorAll("nav *, aside *, #nav-sidebar *")];
    inside.filter(one => one.scrollTop).forEach(one => { one.scrollTop = 0; });
    inside.find(one => one.matches("a.active, a[aria-current]"))?.scrollIntoView({block: "nearest"});
}"""


@contextmanager
def open_browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise SystemExit(f"there is no browser: none of {', '.join(NAMES)} is on PATH. Install one of them.")
    # Playwright keeps an event loop in this thread, where Django then suspects asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    arguments = ["--disable-dev-shm-usage", "--disable-gpu"]
    # Chromium refuses to run as root with its sandbox on; it opens nothing but our own pages.
    arguments += ["--no-sandbox"] if os.geteuid() == 0 else []
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


def take(picture: Picture, browser: Browser, url: str, folder: Path) -> Path:
    width, height = picture.size
    context = browser.new_context(
        base_url=url,
        viewport={"width": width, "height": height},
        timezone_id=picture.zone,
        color_scheme="light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    try:
        context.add_cookies([{"name": "sessionid", "value": _session(picture.by), "url": url}])
        page = context.new_page()
        page.goto(f"/admin/{picture.address}")
        if picture.steps:
            picture.steps(page)
        for text in picture.shows:
            expect(page.get_by_text(text).first).to_be_visible()
        page.evaluate("document.fonts.ready.then(() => true)")
        return _write(page, picture, folder / f"{picture.name}.png")
    finally:
        context.close()


def _write(page: Page, picture: Picture, path: Path) -> Path:
    if picture.part:
        page.locator(picture.part).screenshot(path=path, animations="disabled")
        return path
    if picture.whole:
        # Not Playwright's whole page, on which the menu would end where the window did.
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": picture.size[0], "height": height})
        page.evaluate(_MENU_FROM_ITS_TOP)
    page.screenshot(path=path, animations="disabled")
    return path


def _session(name: str) -> str:
    client = Client()
    client.force_login(person(name))
    return client.cookies["sessionid"].value

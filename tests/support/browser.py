"""The system's Chromium for tests: pages of people who are logged in, and what the browser complained of."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from tests.support.clients import client_of

# The shell only draws pages, and takes a fifth of the processor time of a browser that has windows it never shows.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    f"there is no browser: none of {', '.join(NAMES)} is on PATH. Install your distribution's package "
    "chromium-headless-shell or chromium to run these tests."
)
PASSWORD = "a password for tests"
# However slow the machine; a test that works never waits for so long.
PATIENCE_MS = 80_000


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def a_browser() -> Iterator[Browser]:
    """Skips the test where there is none, unless there must be one."""
    path = find_chromium()
    if path is None and os.environ.get("PUNCTUAL_BROWSER") == "required":
        pytest.fail(MISSING)
    if path is None:
        pytest.skip(MISSING)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread, where Django then suspects asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = launch(playwright, path)
        yield browser
        browser.close()


def launch(playwright: Playwright, path: str) -> Browser:
    expect.set_options(timeout=PATIENCE_MS)
    # Chromium refuses to run as root with its sandbox on; tests open nothing but our own pages.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    # There is no graphics card, and to draw as if there were one takes the processor several times as long.
    arguments += ["--disable-dev-shm-usage", "--disable-gpu"]
    # Whatever a page asks of anybody but us fails, which the browser complains of. To listen to each request instead
    # takes a fifteenth of what a page takes.
    arguments += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    return playwright.chromium.launch(executable_path=path, args=arguments)


PERMISSION = ("content_type__app_label", "codename")


def person(name: str, *permissions: str, staff: bool = True, superuser: bool = False):
    """A user who may do what `permissions` name, such as "articles_app.change_article"."""
    user = get_user_model().objects.create_user(name, password=PASSWORD, is_staff=staff, is_superuser=superuser)
    if permissions:
        named = Permission.objects.filter(codename__in=[one.partition(".")[2] for one in permissions])
        ids = {f"{app}.{codename}": id_ for id_, app, codename in named.values_list("id", *PERMISSION)}
        given = user.user_permissions.through
        given.objects.bulk_create(given(user_id=user.pk, permission_id=ids[one]) for one in {*permissions})
    return user


# Contexts that nobody uses now, by where they go and how they were made. Making one takes Chromium a second, and each
# new one has to load all scripts and styles again. Each keeps a page, and with it the process that draws its pages: a
# new one takes as long as to load a page.
_idle: dict[tuple, list[BrowserContext]] = {}
# Where that page is meanwhile: at what runs no script. Any page of another origin would be drawn by another process.
MEANWHILE = "/static/tasks_app/icon.svg"


@dataclass
class Visits:
    """Opens pages, one context for each person, and keeps what the browser says against any of them."""

    browser: Browser
    url: str
    contexts: list[tuple[tuple, BrowserContext]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    heard: set[Page] = field(default_factory=set)
    own: set[Page] = field(default_factory=set)
    spent: set[BrowserContext] = field(default_factory=set)  # closed with the test: nobody can set their clock back

    def page(self, user=None, path: str = "", *, own: bool = False, **options: object) -> Page:
        """A page, logged in as the user, in a context of its own. `options` are Playwright's, such as `timezone_id`.
        `own`: it is closed afterwards, since the test gives it scripts or listeners, or leaves it at work."""
        viewport = options.pop("viewport", {"width": 1280, "height": 720})
        scheme = options.pop("color_scheme", "light")
        context = self._context({"timezone_id": "UTC", **options})
        if user is not None:
            session = client_of(user).cookies["sessionid"].value
            context.add_cookies([{"name": "sessionid", "value": session, "url": self.url}])
        page = self.listen(context.pages[0] if context.pages and not own else context.new_page())
        if own:
            self.own.add(page)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme)
        if path:
            page.goto(path)
        return page

    def listen(self, page: Page) -> Page:
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        self.heard.add(page)
        return page

    def forgive(self, pattern: str) -> None:
        """Complaints that a test asked for, such as the refusal of a page."""
        self.complaints = [one for one in self.complaints if not re.search(pattern, one)]

    def close(self) -> None:
        for made_so, context in self.contexts:
            if context in self.spent:
                context.close()
                continue
            context.set_offline(False)
            for page in self.own.intersection(context.pages):
                page.close()
            kept, *others = context.pages or [context.new_page()]
            for page in others:
                page.close()
            self._leave(kept)
            context.clear_cookies()
            _idle.setdefault(made_so, []).append(context)

    def _leave(self, page: Page) -> None:
        """As if nobody had used it."""
        page.unroute_all()
        if page in self.heard:
            page.remove_listener("console", self._on_console)
            page.remove_listener("pageerror", self._on_error)
        page.goto(MEANWHILE)
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); window.name = ''; }")

    def _context(self, options: dict[str, object]) -> BrowserContext:
        made_so = (self.url, *sorted(options.items()))
        if _idle.get(made_so):
            context = _idle[made_so].pop()
        else:
            context = self.browser.new_context(base_url=self.url, **options)
            context.set_default_timeout(PATIENCE_MS)
            context.set_default_navigation_timeout(PATIENCE_MS)
        self.contexts.append((made_so, context))
        return context

    def _on_console(self, message: ConsoleMessage) -> None:
        # What a Content-Security-Policy forbids is told here too.
        where = message.location.get("url", "")
        if message.type == "error":
            self.complaints.append(f"{where}: {message.text}")

    def _on_error(self, error: Error) -> None:
        self.complaints.append(f"uncaught {error.stack or error}")

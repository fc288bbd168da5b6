"""Owns the demo's editor: schedules an article in the real admin, over HTTP, moves it, and reads what the page says."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from html import unescape
from html.parser import HTMLParser

import httpx

NAME = "editor"
ADD = "/admin/articles_app/article/add/"


class DemoEditor:
    """Fills in forms as they were sent, changes a field, presses a button; like a browser, without its pictures."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, follow_redirects=True, timeout=10)
        self.page = ""  # the article's
        self._moved = False
        self._looked = 0.0

    @property
    def article(self) -> str:
        return self.page.split("/")[-3] if self.page else ""

    def log_in(self, password: str) -> None:
        login = "/admin/login/"
        form = self._form(login)
        answer = self._client.post(
            login, data=form | {"username": NAME, "password": password}, headers={"Referer": str(self._client.base_url)}
        )
        answer.raise_for_status()

    def submit_an_article(self) -> None:
        """To go live in an hour, if it is approved."""
        later = _typed(datetime.now(UTC) + timedelta(hours=1))
        self._press(ADD, "submit", title="A demo", body="Nothing to object to.", publish_time=later)

    def go_on(self) -> str:
        """Once it is approved, move it near; once it is live, what the page says of it. Twice a second is enough."""
        if time.monotonic() < self._looked + 0.5:
            return ""
        self._looked = time.monotonic()
        told = self._client.get("/admin/articles_app/article/live/", params={"ids": self.article}).json()["articles"][0]
        if told["status"] == "AUDIT_SUCCESS" and not self._moved:
            self._press(self.page, "save", publish_time=_typed(datetime.now(UTC) + timedelta(seconds=3)))
            self._moved = True
        return told["before"] if told["status"] == "PUBLISHED" else ""

    def _press(self, path: str, verb: str, **typed: str) -> None:
        form, headers = self._form(path) | typed, {"Referer": str(self._client.base_url)}
        answer = self._client.post(path, data=form | {"verb": verb}, headers=headers)
        if asked := re.search(r'name="yes" value="([^"]*)"', answer.text):
            # On a slow machine its time has passed meanwhile, and the page asks whether that is meant.
            answer = self._client.post(path, data=form | {"yes": unescape(asked[1])}, headers=headers)
        answer.raise_for_status()
        if 'id="pa-refused"' in answer.text:
            raise RuntimeError(re.search(r'id="pa-refused"[^>]{0,100}>\s*+<p>([^<]*)', answer.text)[1])
        self.page = answer.url.path

    def _form(self, path: str) -> dict[str, str]:
        answer = self._client.get(path)
        answer.raise_for_status()
        fields = _Fields()
        fields.feed(answer.text)
        return fields.values


class _Fields(HTMLParser):
    """The fields of the page's forms, with the values that they were sent with."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self._text: str | None = None  # of a textarea that is being read

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "input" and given.get("name") and given.get("type") != "submit":
            self.values[given["name"]] = given.get("value") or ""
        self._text = given.get("name") if tag == "textarea" else None

    def handle_data(self, data: str) -> None:
        if self._text:
            self.values[self._text] = data.removeprefix("\n")
            self._text = None


def _typed(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S")

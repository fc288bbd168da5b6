"""What people do most, and how many clicks and keys it may take from the page that they begin on.

A click is one on anything, or a choice from a list. A key is one that is pressed by its name; what is typed into a
field counts as one. On a phone each way through the menu takes a click more. A walk that takes more than it may fails:
mend the page. Each is gone at a desktop's width or a phone's, in turn; `make prove` goes all at both.
"""

from dataclasses import dataclass
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import Visits
from tests.support.scale import some


class Most(NamedTuple):
    clicks: int
    keys: int


WALKS = {
    # An operator's, from the overview.
    "retry a dead task": Most(clicks=4, keys=2),
    "move a task": Most(clicks=4, keys=3),
    "cancel a task by keyboard": Most(clicks=0, keys=30),
    "replay all that died": Most(clicks=3, keys=1),
    "cancel a task while the server restarts": Most(clicks=4, keys=1),
    "pause a lane and resume it": Most(clicks=4, keys=2),
    "drain a worker and take it back": Most(clicks=5, keys=2),
    "watch a run": Most(clicks=2, keys=1),
    "make a job": Most(clicks=3, keys=5),
    "pause a job and ask why": Most(clicks=5, keys=1),
    "find a job by keyboard": Most(clicks=0, keys=4),
    # An editor's, from the list of articles.
    "submit a draft by keyboard": Most(clicks=0, keys=45),
    "write an article, move it and take it offline": Most(clicks=4, keys=4),
    "move an article in the calendar": Most(clicks=1, keys=2),
    "correct a planned article": Most(clicks=2, keys=1),
    "edit what somebody else edits": Most(clicks=3, keys=1),
}
WIDTHS = {"desktop": {"width": 1280, "height": 720}, "phone": {"width": 400, "height": 800}}


def walks(name: str):
    """Of a test that goes this walk, with the fixture `walk`."""
    widths = some(list(WIDTHS), list(WALKS).index(name), of=len(WIDTHS))
    return pytest.mark.parametrize("walk", [pytest.param((name, width), id=width) for width in widths], indirect=True)


@dataclass
class Walk:
    name: str
    width: str
    visits: Visits
    page: Page | None = None
    clicks: int = 0
    keys: int = 0
    menus: int = 0

    def start(self, user, path: str, **options: object) -> Page:
        return self.take(self.visits.page(user, path, viewport=self.viewport, **options))

    @property
    def viewport(self) -> dict[str, int]:
        return WIDTHS[self.width]

    def take(self, page: Page) -> Page:
        """Of whoever has opened it in some way of their own."""
        self.page = page
        return page

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def choose(self, target: Locator, option: str) -> None:
        target.select_option(option)
        self.clicks += 1

    def fill(self, target: Locator, text: str) -> None:
        target.fill(text)
        self.keys += 1

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.keys += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.keys += 1

    def tab_to(self, target: Locator) -> None:
        expect(target).to_be_visible()
        for _ in range(WALKS[self.name].keys):
            self.press("Tab")
            if target.evaluate("element => element === document.activeElement"):
                return
        raise AssertionError(f"{target} can't be reached with the Tab key")

    def to_main_part(self) -> None:
        """Past the menu, by the link for that."""
        self.tab_to(self.page.get_by_role("link", name="Skip to the main part"))
        self.press("Enter")

    def menu(self, name: str) -> None:
        if self.width == "phone":
            self.click(self.page.get_by_role("button", name="Menu"))
            self.menus += 1
        self.click(self.page.get_by_role("navigation").get_by_role("link", name=name, exact=True))

    def find(self, words: str, result: Locator) -> None:
        """By the palette."""
        self.click(self.page.get_by_role("button", name="Search pages, jobs and tasks"))
        self.fill(self.page.locator("#search-input-command"), words)
        self.click(result)

    def over(self) -> None:
        most = WALKS[self.name]
        assert self.clicks <= most.clicks + self.menus, f"{self.name}: {self.clicks} clicks, and {most.clicks} may be"
        assert self.keys <= most.keys, f"{self.name}: {self.keys} keys, and {most.keys} may be"
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= self.viewport["width"], f"{self.page.url} is {wide} wide"

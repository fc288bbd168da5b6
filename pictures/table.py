"""Every picture there is: its page, its size, what has to be there, and what has to be seen before it is taken.

They are taken in this order, so that what one scene makes is not in the way of another.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from playwright.sync_api import Page

from . import steps
from .scenes.articles import articles
from .scenes.events import events
from .scenes.guards import guards
from .scenes.hours import hours
from .scenes.jobs import jobs
from .scenes.letters import letters
from .scenes.people import ANN, OLGA
from .scenes.products import products
from .scenes.replay import replay
from .stack import Stack

Scene = Callable[[Stack], Iterator[None]]


@dataclass(frozen=True)
class Picture:
    name: str  # docs/images/NAME.png
    address: str  # below /admin/
    size: tuple[int, int]  # of the window
    scenes: tuple[Scene, ...]
    shows: tuple[str, ...]  # texts that must be there
    whole: bool = False  # as high as the page is, not as the window
    part: str = ""  # a selector: of the page only this
    by: str = OLGA
    zone: str = "UTC"  # of the browser
    steps: Callable[[Page], None] | None = None  # from the address to what is shown


WIDE, LOW = (1280, 800), (1280, 720)
EDITOR = (1080, 720)
EDITORS = {"by": ANN, "zone": "Europe/Berlin"}
TASKS = "punctual/scheduletask/"

PICTURES = (
    Picture(
        "editor-list", "articles_app/article/", EDITOR, (articles,), ("Goes live in", "Rejected"), whole=True, **EDITORS
    ),
    Picture(
        "editor-article",
        "articles_app/article/?q=winter",
        EDITOR,
        (articles,),
        ("Submit, and publish on",),
        whole=True,
        steps=steps.open_draft,
        **EDITORS,
    ),
    Picture(
        "editor-move",
        "articles_app/article/",
        EDITOR,
        (articles,),
        ("What it would do",),
        whole=True,
        steps=steps.preview_move,
        **EDITORS,
    ),
    Picture("overview", "", WIDE, (letters, products, hours), ("Tasks a minute", "Service levels"), whole=True),
    Picture("service-levels", "", WIDE, (hours,), ("Last down",), part=".pu-card:has(> h2:text('Service levels'))"),
    Picture("fleet", "punctual/node/", WIDE, (products, hours), ("Chores of the beats",), whole=True),
    Picture(
        "coverage", "inventory_app/product/coverage/", WIDE, (products,), ("unknown to the stock system",), whole=True
    ),
    Picture(
        "forecast", "punctual/jobdefinition/forecast/", LOW, (jobs, hours), ("Capacity", "firings in one minute"), True
    ),
    Picture("dead-letters", "punctual/dlqentry/", (1400, 800), (letters,), ("480", "MAIL_DOWN"), whole=True),
    Picture("order", f"{TASKS}?state=DEAD", WIDE, (letters,), ("To confirm it",), True, steps=steps.retry_all),
    Picture(
        "incident",
        "punctual/alarmincident/",
        (1400, 800),
        (letters,),
        ("480 tasks of INVOICE_SEND gave up", "sent"),
        steps=steps.open_incident,
    ),
    Picture(
        "subscription",
        "punctual/subscription/",
        (1400, 800),
        (events,),
        ("Last deliveries",),
        steps=steps.open_subscription,
    ),
    Picture("campaign", "punctual/campaign/", (1400, 800), (letters, replay), ("RUNNING",), steps=steps.open_campaign),
    Picture("safeguards", "punctual/safeguard/", (1400, 800), (guards,), ("What they did", "by olga"), whole=True),
)

"""Which page of the documentation answers for which page of the console, where it is, and pages that no menu has."""

from collections.abc import Callable
from typing import NamedTuple

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from tasks_app.conf import conf
from tasks_app.documentation import DOCS

from .links import console_url

# By how the name of an address begins, the longest that fits; `punctual_` is left out.
HELP = {
    "index": "admin.md#overview",
    "app_list": "admin.md",
    "search": "admin.md#menu-search-and-times",
    "password_change": "security.md",
    "alarm": "alarms.md",
    "apitoken": "admin.md#api-tokens",
    "auditentry": "audit.md",
    "calendar": "calendars.md",
    "campaign": "campaigns.md",
    "dlqentry": "dead-letters.md",
    "letter": "dead-letters.md",
    "event": "events.md",
    "export": "history.md",
    "graphrun": "graphs.md",
    "health": "panels.md",
    "host": "callbacks.md",
    "installation": "copies.md",
    "job": "jobs.md",
    "job_backfill": "backfill.md",
    "job_forecast": "forecast.md",
    "job_panel": "panels.md",
    "lane": "dispatcher.md",
    "membership": "roles.md",
    "node": "admin.md#the-fleet",
    "operation": "admin.md#retry-cancel-move",
    "order": "admin.md#retry-cancel-move",
    "run": "admin.md#retry-cancel-move",
    "undo": "campaigns.md#undo-it",
    "recovery": "recovery.md",
    "safeguard": "rules.md",
    "saved": "admin.md#saved-filters",
    "scheduletask": "admin.md#finding-tasks",
    "scheduletask_change": "admin.md#the-trail",
    "secret": "callbacks.md",
    "site": "site.md",
    "subscription": "relay.md",
    "task_decrypt": "encryption.md",
    "task_events": "events.md",
    "taskbatch": "data-path.md",
    "tenant": "tenants.md",
    "worker": "admin.md#a-worker",
}


class Place(NamedTuple):
    """A page that is no list, for the menu and the palette."""

    name: str  # of its address
    words: str
    may: Callable[[HttpRequest], bool]


PLACES: list[Place] = []


def answers(prefix: str, page: str) -> None:
    """The pages of an app whose addresses have names that begin like this are explained there."""
    HELP[prefix] = page


def page_for(name: str | None) -> str | None:
    """The page of the documentation; None: it has none for this one."""
    short = (name or "").removeprefix("punctual_")
    fit = [one for one in HELP if short.startswith(one)]
    return HELP[max(fit, key=len)] if fit else None


def help_url(name: str | None) -> str | None:
    """Where it is: at DOCS_URL, or else on a page of the console."""
    page = page_for(name)
    if page is None:
        return None
    if conf().DOCS_URL:
        return f"{conf().DOCS_URL.rstrip('/')}/{page}"
    file, _, _ = page.partition("#")
    return console_url("help", file.removesuffix(".md")) if (DOCS / file).is_file() else None


def places(request: HttpRequest) -> list[tuple[str, str]]:
    """The words and the addresses of those that whoever asks may open."""
    found = []
    for one in PLACES:
        try:
            if one.may(request):
                found.append((str(one.words), reverse(f"admin:{one.name}", current_app=request.current_app)))
        except NoReverseMatch:
            continue  # the app is there, but its pages are on another site
    return found

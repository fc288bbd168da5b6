"""The menu: our pages in groups by what one comes for, instead of all of them by their names."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models.options import Options
from django.http import HttpRequest
from django.utils.html import conditional_escape
from django.utils.translation import gettext, gettext_noop

from tasks_app.pages.help import places

APP = "punctual"
GROUPS: dict[str, tuple[str, ...]] = {
    gettext_noop("Tasks and jobs"): ("ScheduleTask", "JobDefinition", "GraphRun", "Calendar", "Campaign"),
    gettext_noop("Trouble"): ("DlqEntry", "AlarmIncident", "Safeguard", "Installation", "Recovery"),
    gettext_noop("Machinery"): ("Node", "TaskBatch", "Site", "Host"),
    gettext_noop("Who is told"): ("Subscription", "AlarmRule", "AlarmChannel"),
    gettext_noop("Tenants and access"): ("Tenant", "Membership", "ApiToken", "Secret", "AuditEntry"),
}
NAMES = {"ScheduleTask": gettext_noop("Tasks"), "TaskBatch": gettext_noop("Batches")}  # as their pages are called


def grouped(apps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What Django has found that somebody may open, by app; accounts come last."""
    apps = sorted(apps, key=lambda app: app["app_label"] == "auth")
    return [group for app in apps for group in (_groups(app) if app["app_label"] == APP else [app])]


def under_one_name(apps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same for the page of one app, whose name it has; with the names that the menu has."""
    return [app | {"models": sorted(map(_named, app["models"]), key=lambda model: str(model["name"]))} for app in apps]


def _groups(app: dict[str, Any]) -> Iterator[dict[str, Any]]:
    pages = {model["object_name"]: model for model in app["models"]}
    placed = {model for models in GROUPS.values() for model in models}
    others = tuple(model for model in pages if model not in placed)  # a project's own pages of our tables
    for name, models in {**GROUPS, app["name"]: others}.items():
        if found := [_named(pages[model]) for model in models if model in pages]:
            yield app | {"name": gettext(name), "models": found}


def _named(model: dict[str, Any]) -> dict[str, Any]:
    name = NAMES.get(model["object_name"])
    return model | {"name": gettext(name)} if name else model


def name_of(opts: Options) -> str:
    """What the menu calls the list of a model."""
    name = NAMES.get(opts.object_name) if opts.app_label == APP else None
    return gettext(name) if name else str(opts.verbose_name_plural)


def menu(request: HttpRequest, groups: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """As django-unfold draws it: first the pages that are no lists, then lists by group."""
    first = [_item(words, address, address == request.path) for words, address in places(request)]
    elsewhere = not any(item["active"] for item in first)
    lists = [
        {
            "title": group["name"],
            "items": [
                _item(model["name"], model["admin_url"], elsewhere and request.path.startswith(model["admin_url"]))
                for model in group["models"]
                if model["admin_url"]
            ],
        }
        for group in groups
    ]
    return [{"items": first}, *lists]


def _item(words: str, address: str, active: bool) -> dict[str, Any]:
    # Escaped here: the template takes it for markup.
    return {"title": conditional_escape(words), "link": address, "active": active, "has_permission": True}

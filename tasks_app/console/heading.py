"""The heading of a page: where it belongs, and what it is. django-unfold's own ends with the list."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.contrib.admin.templatetags.admin_urls import admin_urlquote
from django.db.models import Model
from django.urls import reverse
from django.utils.text import capfirst

from .menu import name_of


class Step(NamedTuple):
    words: str
    link: str = ""


def list_of(context: Mapping[str, Any]) -> str:
    """The name of the list that a page belongs to; empty if it is the list, or belongs to none."""
    opts = context.get("opts")
    if opts is None or context.get("cl"):
        return ""
    many = capfirst(name_of(opts))
    return "" if capfirst(str(context.get("title") or "")) == many else many


def steps(context: Mapping[str, Any]) -> list[Step]:
    """From the app down to the page itself; none if the page belongs to no list."""
    opts = context.get("opts")
    if opts is None:
        return []
    site = getattr(context["request"], "current_app", None) or "admin"
    place = f"{site}:{opts.app_label}_{opts.model_name}"
    app, many = capfirst(opts.app_config.verbose_name), capfirst(name_of(opts))
    found = [Step(many, reverse(f"{place}_changelist"))]
    if app != many:
        found.insert(0, Step(app, reverse(f"{site}:app_list", args=[opts.app_label])))
    thing, title = context.get("original") or context.get("object"), capfirst(str(context.get("title") or ""))
    if isinstance(thing, Model):
        found.append(Step(str(thing), reverse(f"{place}_change", args=[admin_urlquote(thing.pk)])))
    elif title not in ("", many) and not context.get("cl"):
        found.append(Step(title))
    return found

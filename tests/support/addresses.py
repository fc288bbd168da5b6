"""The addresses of the operator's pages, from their own URLconf, so that a new page can't be forgotten."""

import re
from collections.abc import Iterator

from django.urls import URLPattern

from tasks_app.console.site import ConsoleSite, console


def admin_pages(at: str) -> Iterator[tuple[str, URLPattern]]:
    """Every address of a console with nothing but Punctual's models, which is mounted there."""
    site = ConsoleSite("punctual")
    for model, pages in console()._registry.items():
        if model._meta.app_label == "tasks_app":
            site.register(model, type(pages))
    yield from _below(site.get_urls(), at)


def _below(patterns: list, at: str) -> Iterator[tuple[str, URLPattern]]:
    for one in patterns:
        where = at + re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", str(one.pattern)).replace("^", "").replace("$", "")
        if isinstance(one, URLPattern):
            yield where, one
        else:
            yield from _below(one.url_patterns, where)

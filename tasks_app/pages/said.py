"""Sentences of the engine in the language of the page."""

from django.utils.translation import gettext, ngettext

from tasks_app.core.said import Said

from .spans import span


def in_language(*parts: str | None) -> str:
    """What can be said in another language, and the rest as it is."""
    return " ".join(one.again(_translated, span) if isinstance(one, Said) else str(one) for one in parts if one)


def _translated(words: str, plural: str, count: int) -> str:
    return ngettext(words, plural, count) if plural else gettext(words)

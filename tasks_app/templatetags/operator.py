"""How the operator's pages write times, states and errors. Everything is escaped; times are in UTC and say so."""

import json
from datetime import UTC, datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html

from tasks_app.core.phrases import first_line, milliseconds, span
from tasks_app.core.states import Status

register = template.Library()

# Which colour a state has.
LABELS = {
    Status.SUCCESS: "success",
    Status.FAIL: "warning",
    Status.DEAD: "danger",
    Status.RUNNING: "info",
    Status.INIT: "primary",
}


@register.filter
def instant(value: datetime | None):
    """A moment: to the second in UTC, to the microsecond for machines, and how far off it is when one points at it."""
    if value is None:
        return "–"
    utc = value.astimezone(UTC)
    away = utc - timezone.now()
    hint = f"in {span(away)}" if away > timedelta(0) else f"{span(away)} ago"
    return format_html('<time datetime="{}" title="{}">{}</time>', utc.isoformat(), hint, f"{utc:%Y-%m-%d %H:%M:%S}")


@register.filter
def away(value: datetime | None) -> str:
    """How far off a moment is, from now."""
    if value is None:
        return ""
    wait = value - timezone.now()
    return f"in {span(wait)}" if wait > timedelta(0) else f"{span(wait)} ago"


@register.filter
def duration(value: timedelta | None) -> str:
    return "–" if value is None else ("−" if value < timedelta(0) else "") + span(value)


@register.filter
def ms(value: float | None) -> str:
    return "–" if value is None else milliseconds(value)


@register.filter
def number(value: int) -> str:
    return f"{value:,}"


@register.filter
def state(status: str):
    """A state as a label. Made here, since including a template for each of hundreds of rows takes longer."""
    return format_html('<span class="pu-state pu-is-{}">{}</span>', LABELS.get(status, "plain"), status)


@register.filter
def headline(text: str) -> str:
    """The first line of an error."""
    return first_line(text)


@register.filter
def stack(text: str) -> str:
    """The rest of an error, which is its stack."""
    return text.strip().partition("\n")[2].strip("\n")


@register.filter
def seconds(value: float | None) -> str:
    return "–" if value is None else span(timedelta(seconds=value))


@register.filter
def percent(share: float) -> str:
    return f"{share:.1%}"


@register.filter
def pretty(value: object) -> str:
    """A payload, to be read by people."""
    return json.dumps(value, indent=2, ensure_ascii=False)

"""The address of a project's own log system, in which a page fills in what one try of a task is known by."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from string import Formatter
from urllib.parse import quote

from .errors import nearest, shown

# What can be filled in, with what each stands for.
FIELDS = {
    "task": "its number",
    "type": "its type",
    "key": "its key",
    "tenant": "its tenant",
    "job": "the number of its job, or nothing",
    "batch": "the number of its batch",
    "worker": "the worker and its child, such as web-3:4711:4720",
    "host": "the machine of the worker",
    "pid": "the process that ran it",
    "from": "when it began, as 2026-11-15T09:00:00Z",
    "to": "when it ended, in the same way; while it runs, nothing",
    "from_ms": "when it began, in milliseconds since 1970",
    "to_ms": "when it ended, in milliseconds since 1970; while it runs, nothing",
}
_RULE = (
    "it must be an http or https address in which {task} and others are filled in, such as "
    "https://logs.example.com/search?q={task}&from={from_ms}&to={to_ms}"
)


def problems_of(url: str) -> Iterator[str]:
    if not url:
        return
    setting = f'PUNCTUAL["LOG_URL"] is {shown(url)}'
    try:
        parts = list(Formatter().parse(url))
    except ValueError as error:
        yield f"{setting}: {error}; {_RULE}. A brace that stays is written twice."
        return
    if not re.match(r"https?://[^\s/?#{}]+", url) or re.search(r"\s", url):
        yield f"{setting}; {_RULE}. Its scheme and host can't be filled in."
        return
    for _, name, form, conversion in parts:
        if name is None:
            continue
        if name not in FIELDS:
            yield f"{setting}, and there is no {{{name}}}.{nearest(name, FIELDS)} There are: {', '.join(FIELDS)}."
        elif form or conversion:
            yield f"{setting}; {{{name}}} takes no format of its own: write {{{name}}}."


def filled(url: str, values: Mapping[str, object]) -> str:
    """What is filled in can't end the part of the address that it is in."""
    return url.format(**{name: quote(_text(values.get(name)), safe="") for name in FIELDS})


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else str(value)


def times(began: datetime | None, ended: datetime | None) -> dict[str, object]:
    """The four that are about when it ran."""
    return {
        "from": began,
        "to": ended,
        "from_ms": None if began is None else int(began.timestamp() * 1000),
        "to_ms": None if ended is None else int(ended.timestamp() * 1000),
    }

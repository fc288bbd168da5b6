"""Open dead letters: page by page, by their causes, and how they came over time. Reads only, and never a whole table.

Letters are found through the index of their cause, their tenant or their time; what is asked for beside that is looked
for in a bounded stretch of them.
"""

import re
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from tasks_app.core.confidential import as_text
from tasks_app.core.errors import InvalidTask, checked_tags, shown
from tasks_app.lifecycle.request import checked_instant
from tasks_app.models import DlqEntry
from tasks_app.sql import run, run_on

STRETCH = 5_000  # letters looked at in one statement
COUNTED_AT_ONCE = 50_000  # letters looked at in one statement that only counts
MOST_CAUSES = 1_000  # looked at for one page
COUNTED = 10_000  # letters of one cause, at most
SAMPLE = 2_000  # letters of one cause that are looked at for a tag or a job
STEPS = 24  # of a curve
STEP_COUNTED = 1_000  # letters in one step of it, at most
CURVE_DAYS = 7
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LetterFilter:
    tenant: str | None = None  # None: of all
    types: Collection[str] | None = None  # of these only: all that a caller may see
    task_type: str | None = None
    fingerprint: str | None = None
    tag: str | None = None
    job: int | None = None
    since: datetime | None = None  # died then or later
    until: datetime | None = None  # not included

    def __post_init__(self) -> None:
        if self.fingerprint is not None and not re.fullmatch("[0-9a-f]{16}", self.fingerprint):
            raise InvalidTask(f"fingerprint={shown(self.fingerprint)} is none; one has 16 digits and letters a to f.")
        if self.tag is not None:
            checked_tags([self.tag])
        for name, value in (("since", self.since), ("until", self.until)):
            if value is not None:
                checked_instant(name, value)
        if self.since is not None and self.until is not None and self.until <= self.since:
            raise InvalidTask(f"until={self.until} must be later than since={self.since}.")

    @property
    def narrowed(self) -> bool:
        """Whether it leaves out anything that the caller may see."""
        given = (self.task_type, self.fingerprint, self.tag, self.job, self.since, self.until)
        return any(one is not None for one in given)

    @property
    def words(self) -> str:
        """What it looks for, for people."""
        named = {
            "tenant": self.tenant,
            "type": self.task_type,
            "cause": self.fingerprint,
            "tag": self.tag,
            "job": self.job,
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
        }
        return ", ".join(f"{name} {value}" for name, value in named.items() if value is not None) or "all dead letters"


class Place(NamedTuple):
    """The letter after which a list goes on."""

    at: datetime
    id: int

    def __str__(self) -> str:
        return f"{int((self.at - EARLIEST) / timedelta(microseconds=1))}-{self.id}"

    @classmethod
    def read(cls, text: str) -> "Place":
        found = re.fullmatch("([0-9]{1,17})-([1-9][0-9]{0,17})", text)
        if found is None:
            raise InvalidTask("after: give `next` of the previous page, unchanged.")
        return cls(EARLIEST + timedelta(microseconds=int(found[1])), int(found[2]))


class LetterPage(NamedTuple):
    letters: list[DlqEntry]
    looked_at: int
    next: str | None  # where to go on, though the page may be short; None: there are no more


class Cause(NamedTuple):
    """All open letters with one fingerprint, as far as they match."""

    fingerprint: str
    task_type: str
    error_code: str
    error_msg: str  # of the last one, as are the code, the frame and the letter
    frame: str
    letter: int
    first_at: datetime
    last_at: datetime
    letters: int
    complete: bool  # False: it has that many or more


class Causes(NamedTuple):
    causes: list[Cause]
    complete: bool  # False: there are more that were not looked at


class Curve(NamedTuple):
    since: datetime
    step: timedelta
    values: dict[str, list[int]]  # by fingerprint


def page_of_letters(wanted: LetterFilter, after: str | None, size: int) -> LetterPage:
    """The latest letters, or those that follow this place."""
    found = _look(wanted, None if after is None else Place.read(after), size)
    letters = DlqEntry.objects.in_bulk(found.ids)
    page = [letters[id_] for id_ in found.ids if id_ in letters]
    return LetterPage(page, found.looked_at, found.next and str(found.next))


def walk_tasks(wanted: LetterFilter) -> Iterator[list[int]]:
    """The tasks of all letters that match, the latest first, some at a time."""
    after = None
    while True:
        found = _look(wanted, after, STRETCH)
        if found.tasks:
            yield found.tasks
        after = found.next
        if after is None:
            return


def tasks_of(letters: Sequence[int], wanted: LetterFilter) -> list[int]:
    """The tasks of these open letters, as far as they match."""
    rows = DlqEntry.objects.filter(id__in=list(letters), replay_status=DlqEntry.OPEN)
    if wanted.tenant is not None:
        rows = rows.filter(tenant=wanted.tenant)
    if wanted.types is not None:
        rows = rows.filter(task_type__in=list(wanted.types))
    return list(rows.order_by("task_id").values_list("task_id", flat=True))


def count_letters(wanted: LetterFilter, most: int, seconds: float) -> tuple[int, bool]:
    """How many match, counted up to `most` and for about so long; and whether these are all."""
    count, after, deadline = 0, None, time.monotonic() + seconds
    while True:
        asked = _asked(wanted) | _from(wanted, after) | {"stretch": COUNTED_AT_ONCE}
        ((found, at, id_),) = run_on("count_letters", _stretch(wanted), asked)
        count += found
        if id_ is None and count <= most:
            return count, True
        if count > most or time.monotonic() > deadline:
            return min(count, most), False
        after = Place(at, id_)


def causes(wanted: LetterFilter, size: int) -> Causes:
    """The causes with the most letters first. Of more than MOST_CAUSES, those whose fingerprints come first."""
    asked = _asked(wanted) | {
        "since": wanted.since or EARLIEST,
        "until": wanted.until or LATEST,
        "most": 1 if wanted.fingerprint else MOST_CAUSES,
        "bound": COUNTED,
        "sample": SAMPLE,
        "size": size,
    }
    rows = run("group_letters" if wanted.tenant is None else "group_own_letters", asked)
    sampled = wanted.tag is not None or wanted.job is not None
    bound = SAMPLE if sampled else COUNTED
    found = [
        Cause(
            fingerprint, task_type, code, as_text(error), frame, letter, first_at, last_at, letters, looked_at < bound
        )
        for fingerprint, task_type, code, error, frame, letter, first_at, last_at, letters, looked_at, _ in rows
    ]
    return Causes(found, complete=wanted.fingerprint is not None or not (rows and rows[0][-1]))


def curve(wanted: LetterFilter, found: Sequence[Cause]) -> Curve | None:
    """How the letters of these causes came over time: that of the filter, or else the last week at most."""
    if not found:
        return None
    now = timezone.now()
    until = min(wanted.until or now, max(now, max(one.last_at for one in found)))
    since = wanted.since or max(min(one.first_at for one in found), until - timedelta(days=CURVE_DAYS))
    # The last moment belongs to the last step, and a step is never empty.
    step = max((until - since) / STEPS, timedelta(milliseconds=1)) + timedelta(microseconds=1)
    asked = {
        "tenant": wanted.tenant,
        "fingerprint": wanted.fingerprint,
        "fingerprints": [one.fingerprint for one in found],
        "since": since,
        "step": step,
        "steps": STEPS,
        "bound": STEP_COUNTED,
    }
    return Curve(since, step, dict(run_on("letter_curves", _steps(wanted.tenant), asked)))


class _Found(NamedTuple):
    ids: list[int]
    tasks: list[int]
    looked_at: int
    next: Place | None


def _look(wanted: LetterFilter, after: Place | None, size: int) -> _Found:
    # What the index knows alone needs no more letters than the page has.
    stretch = max(STRETCH, size) if _asks_more(wanted) else size
    asked = _asked(wanted) | _from(wanted, after) | {"size": size, "stretch": stretch}
    ((ids, tasks, looked_at, at, id_),) = run_on("list_letters", _stretch(wanted), asked)
    return _Found(ids or [], tasks or [], looked_at, None if id_ is None else Place(at, id_))


def _asks_more(wanted: LetterFilter) -> bool:
    """Whether each letter has to be looked at."""
    return any(one is not None for one in (wanted.types, wanted.task_type, wanted.tag, wanted.job))


def _from(wanted: LetterFilter, after: Place | None) -> dict[str, object]:
    return {"since": wanted.since, "until": wanted.until, "begin": after and after.at, "after": after and after.id}


def _asked(wanted: LetterFilter) -> dict[str, object]:
    return {
        "tenant": wanted.tenant,
        "types": None if wanted.types is None else list(wanted.types),
        "task_type": wanted.task_type,
        "fingerprint": wanted.fingerprint,
        "tag": wanted.tag,
        "job": wanted.job,
    }


# Rows are compared as wholes, and sorted by all that is compared: so only the index that begins with these columns will
# do. By an equality, PostgreSQL's planner may take that of the time instead, and step over a million letters of others.
_STRETCH = (
    "SELECT * FROM punctual_dead_letter WHERE replay_status = 'OPEN'"
    " AND ({columns}created_at, id) >= ({values}coalesce(%(since)s::timestamptz, '-infinity'), 0)"
    " AND ({columns}created_at, id) < ({values}coalesce(%(until)s::timestamptz, 'infinity'), 0)"
    " AND ({columns}created_at, id) < ({values}coalesce(%(begin)s::timestamptz, 'infinity'),"
    " coalesce(%(after)s::bigint, 0)) ORDER BY {order}created_at DESC, id DESC LIMIT %(stretch)s"
)
_OF_STEP = (
    "({columns}d.fingerprint, d.created_at) >= ({values}step.fingerprint, step.low)"
    " AND ({columns}d.fingerprint, d.created_at) < ({values}step.fingerprint, step.high)"
)


def _stretch(wanted: LetterFilter) -> str:
    known = ["tenant"] if wanted.tenant is not None else []
    known += ["fingerprint"] if wanted.fingerprint is not None else []
    return _STRETCH.format(
        columns="".join(f"{name}, " for name in known),
        values="".join(f"%({name})s::text, " for name in known),
        order="".join(f"{name} DESC, " for name in known),
    )


def _steps(tenant: str | None) -> str:
    if tenant is None:
        return _OF_STEP.format(columns="", values="")
    return _OF_STEP.format(columns="d.tenant, ", values="%(tenant)s::text, ")

"""What was done by people and tokens, page by page, as far as a caller may know of it. Reads only.

Entries are found through the index of their task, subject, actor or tenant, or else of their time; what is asked for
beside that is looked for in a bounded stretch of them.
"""

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tasks_app.core.errors import InvalidTask
from tasks_app.lifecycle.request import checked_instant
from tasks_app.models import AuditEntry
from tasks_app.sql import run_on

STRETCH = 5_000  # entries looked at for one page
LOOK_SECONDS = 1.0  # for a page on which there would be nothing
EXPORTED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class AuditFilter:
    tenant: str | None = None  # None: of all
    shared: bool = False  # also what was done to what all tenants share, and what has no tenant yet
    types: Collection[str] | None = None  # of these only
    hidden: Collection[str] = ()  # verbs that the caller may not know of
    verb: str | None = None
    actor: str | None = None
    task_id: int | None = None
    subject: str | None = None  # such as "job 7"
    orders: bool = False  # of an order for many tasks its own entry, not one for each task
    reason: str | None = None  # a part of it, in capitals or not
    since: datetime | None = None
    until: datetime | None = None  # not included

    def __post_init__(self) -> None:
        for name, value in (("since", self.since), ("until", self.until)):
            if value is not None:
                checked_instant(name, value)
        if self.since is not None and self.until is not None and self.until <= self.since:
            raise InvalidTask(f"until={self.until} must be later than since={self.since}.")


class EntryPage(NamedTuple):
    entries: list[AuditEntry]
    looked_at: int
    next: int | None  # the entry after which there may be more, though the page may be short; None: there are no more


def page_of_entries(wanted: AuditFilter, after: int | None, size: int) -> EntryPage:
    """The latest entries, or those that follow this one."""
    begin = None
    if after is not None:
        begin = AuditEntry.objects.filter(id=after).values_list("created_at", flat=True).first()
        if begin is None:  # too old meanwhile, and so is all that follows
            return EntryPage([], 0, None)
    asked = {
        "tenant": wanted.tenant,
        "shared": wanted.shared,
        "types": None if wanted.types is None else list(wanted.types),
        "hidden": list(wanted.hidden),
        "verb": wanted.verb,
        "actor": wanted.actor,
        "task_id": wanted.task_id,
        "subject": wanted.subject,
        "orders": wanted.orders,
        "reason": wanted.reason,
        "since": wanted.since,
        "until": wanted.until,
        "begin": begin,
        "after": after,
        "size": size,
        "stretch": STRETCH,
    }
    ((ids, looked_at, floor),) = run_on("list_audit", _stretch(wanted), asked)
    entries = AuditEntry.objects.in_bulk(ids or [])
    return EntryPage([entries[id_] for id_ in ids or [] if id_ in entries], looked_at, floor)


def look_for_entries(wanted: AuditFilter, after: int | None, size: int, seconds: float = LOOK_SECONDS) -> EntryPage:
    """page_of_entries, going on for so long until something is found: between two orders may lie the many entries of
    the tasks of one."""
    give_up = time.monotonic() + seconds
    page = page_of_entries(wanted, after, size)
    while not page.entries and page.next is not None and time.monotonic() < give_up:
        following = page_of_entries(wanted, page.next, size)
        page = following._replace(looked_at=page.looked_at + following.looked_at)
    return page


def all_entries(wanted: AuditFilter) -> Iterator[AuditEntry]:
    """The latest first, a page in memory at a time, each read by a statement of its own: nobody waits for us."""
    after = None
    while True:
        page = page_of_entries(wanted, after, EXPORTED_AT_ONCE)
        yield from page.entries
        after = page.next
        if after is None:
            return


_ENTRIES = (
    "(SELECT * FROM punctual_audit_entry WHERE {where}"
    " AND created_at >= coalesce(%(since)s::timestamptz, '-infinity')"
    " AND created_at < coalesce(%(until)s::timestamptz, 'infinity')"
    " AND created_at <= coalesce(%(begin)s::timestamptz, 'infinity')"
    " AND (created_at, id) < (coalesce(%(begin)s::timestamptz, 'infinity'), coalesce(%(after)s::bigint, 0))"
    " ORDER BY created_at DESC, id DESC LIMIT %(stretch)s)"
)


def _stretch(wanted: AuditFilter) -> str:
    if wanted.task_id is not None:
        where = ["task_id = %(task_id)s::bigint"]
    elif wanted.subject is not None:
        where = ["subject = %(subject)s::text"]
    elif wanted.actor is not None:
        where = ["actor = %(actor)s::text"]
    elif wanted.tenant is not None:
        where = ["tenant = %(tenant)s::text", *(["tenant IS NULL"] if wanted.shared else [])]
    else:
        where = ["TRUE"]
    return " UNION ALL ".join(_ENTRIES.format(where=one) for one in where)

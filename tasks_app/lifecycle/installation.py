"""What this installation is, and whether it may dispatch: it looks at its database, and stops where that is a copy."""

import json
import logging
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from django.db import DatabaseError

from tasks_app.conf import conf
from tasks_app.core.installation import FORGET_STANDBY_SECONDS, Facts, Finding, Found, Known, Limits, compare
from tasks_app.core.said import said
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.database import atomic, is_in_transaction
from tasks_app.models import Installation
from tasks_app.sql import run

from .audit import Entry, Operator, audit

log = logging.getLogger(__name__)

ITSELF = "punctual"  # who acts, when nobody told it to
SUBJECT = "installation"
QUARANTINED = "installation.quarantined"  # the event
# What a server answers that keeps its own files to itself.
_REFUSED = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.FeatureNotSupported,
)


class Sites(NamedTuple):
    """Which site may work."""

    active: str | None  # None: none may claim or start anything
    chosen: str | None  # to be opened, once nobody of the one before can start anything any more
    epoch: int  # grows with every choice
    since: datetime
    recovery: int | None  # whose lanes the beats let go on
    silent_seconds: float | None  # since the choice, or a sign of life of a beat of that site

    @property
    def wanted(self) -> str | None:
        return self.chosen or self.active


@dataclass(frozen=True, slots=True)
class Row:
    """The installation as it is noted in its database."""

    uid: UUID
    environment: str
    facts: Facts | None
    state: str
    reason: str
    since: datetime
    changed_by: str
    seen_at: datetime | None
    held_before: datetime | None
    held_lanes: list[str]
    silent_since: datetime | None
    answer: dict[str, Any] | None
    silent_seconds: float | None  # since a beat could dispatch
    unseen_seconds: float | None  # since a beat was there, of any version
    standbys: dict[str, float]
    sites: Sites

    @property
    def known(self) -> Known:
        return Known(self.facts, self.unseen_seconds, self.standbys)

    @property
    def quarantined(self) -> bool:
        return self.state == Installation.QUARANTINED

    @property
    def rehearsing(self) -> bool:
        return self.state == Installation.REHEARSING


def read_installation() -> Row | None:
    """None: no beat or worker has looked yet, so nothing is known."""
    return next((_row(*found) for found in run("read_installation", {})), None)


def noted() -> Row:
    """The same, for callers that have declared the installation."""
    [found] = run("read_installation", {})
    return _row(*found)


def _row(
    uid: UUID,
    environment: str,
    facts: str | None,
    state: str,
    reason: str,
    since: datetime,
    changed_by: str,
    seen_at: datetime | None,
    held_before: datetime | None,
    held_lanes: list[str],
    silent_since: datetime | None,
    answer: str | None,
    silent_seconds: float | None,
    unseen_seconds: float | None,
    standbys: str,
    *sites: Any,
) -> Row:
    return Row(
        uid,
        environment,
        None if facts is None else Facts.of(json.loads(facts)),
        state,
        reason,
        since,
        changed_by,
        seen_at,
        held_before,
        held_lanes,
        silent_since,
        None if answer is None else json.loads(answer),
        silent_seconds,
        unseen_seconds,
        json.loads(standbys),
        Sites(*sites),
    )


def read_facts() -> Facts:
    """Of the server that this thread talks to."""
    found = _unless_refused("read_facts")
    return Facts(*(run("read_few_facts", {})[0] if found is None else found))


def _read_both() -> tuple[Facts, Row | None]:
    """The facts of the server, and what is noted in its database."""
    found = _unless_refused("look")
    if found is None:
        return Facts(*run("read_few_facts", {})[0]), read_installation()
    of_server, noted = found[: len(fields(Facts))], found[len(fields(Facts)) :]
    return Facts(*of_server), None if noted[0] is None else _row(*noted)


def _unless_refused(statement: str) -> tuple[Any, ...] | None:
    """Its row; None: the server keeps to itself what it asks for."""
    try:
        # A refusal would end the caller's transaction.
        with atomic() if is_in_transaction() else nullcontext():
            return run(statement, {})[0]
    except DatabaseError as error:
        if not isinstance(error.__cause__, _REFUSED):
            raise
        return None


def stranger(row: Row | None) -> str | None:
    """Why a process with these settings does nothing here; None: it belongs to this database, or nobody can tell."""
    own = conf().ENVIRONMENT
    if row is None or not own or not row.environment or own == row.environment:
        return None
    return said(
        'This database belongs to the environment {theirs!r}, and this process to {own!r} (PUNCTUAL["ENVIRONMENT"]).',
        theirs=row.environment,
        own=own,
    )


def standing_by(row: Row | None) -> str | None:
    """Why a process of this site neither claims nor starts anything; None: its site is the active one."""
    own = conf().site
    if row is None or row.sites.active == own:
        return None
    if row.sites.chosen:
        return f"Site {row.sites.chosen!r} is being activated."
    if row.sites.active is None:
        return "All sites stand by, until `manage.py site activate NAME` says which one works."
    return f"Site {own!r} stands by: {row.sites.active!r} is the active one."


def look(check: Callable[[Facts, Row | None], None] | None = None) -> Row:
    """The installation after this look. A database that may be a copy is in quarantine from now on; a standby of ours
    that was promoted is adopted. `check` may refuse the server before anything is concluded."""
    facts, row = _read_both()
    if check is not None:
        check(facts, row)
    if row is not None and (row.quarantined or stranger(row)):
        return row  # it is no business of another environment's
    found = _compared(row, facts)
    if row is not None and row.facts is not None and found.finding is Finding.SAME:
        if (more := row.facts.filled_with(facts)) != row.facts:
            run("learn_facts", {"known": json.dumps(row.facts.as_json()), "facts": json.dumps(more.as_json())})
        return row
    if found.finding is Finding.COPY:
        _stop(facts)
    else:
        _adopt(facts)
    return noted()


def touch() -> None:
    """A sign of life of whoever sees to it that something is dispatched. Beats give theirs with their leases."""
    run("touch_installation", {"forget": FORGET_STANDBY_SECONDS, "site": None})


def quarantine(reason: str, *, by: str = ITSELF) -> bool:
    """From the commit on nothing is dispatched and nobody is called. False: it was in quarantine already, for another
    reason, which stays."""
    event = QUARANTINED if QUARANTINED in conf().kept_events else None
    return bool(run("quarantine", {"reason": reason, "by": by, "tenant": INTERNAL_TENANT, "event": event}))


def locked() -> Row:
    """The installation, which stays as it is until this transaction ends."""
    run("declare_installation", {})
    run("lock_installation", {})
    return noted()


def note_adopted(facts: Facts, *, alive: bool = True) -> None:
    """`alive`: it is a sign of life, too."""
    run("adopt", {"facts": json.dumps(facts.as_json()), "environment": conf().ENVIRONMENT, "alive": alive})


def _stop(facts: Facts) -> None:
    """Asked again under the lock: whoever was faster may have adopted the server, or been told to go on."""
    with atomic():
        found = _compared(locked(), facts)
        if found.finding is Finding.COPY and quarantine(found.reason):
            log.error("installation.quarantined reason=%r", found.reason)


def _adopt(facts: Facts) -> None:
    """Asked again under the lock: somebody may have been faster, or have put it into quarantine."""
    with atomic():
        row = locked()
        found = _compared(row, facts)
        if row.quarantined or found.finding not in (Finding.NEW, Finding.PROMOTED):
            return
        # A process of this version beside beats of one before, which give no sign of life here, says nothing of them.
        note_adopted(facts, alive=found.finding is Finding.PROMOTED)
        if found.finding is Finding.PROMOTED:
            audit(Operator(ITSELF, found.reason), "adopt", [Entry(SUBJECT, "adopted", detail=facts.as_json())])
            log.warning("installation.adopted reason=%r", found.reason)


def _compared(row: Row | None, facts: Facts) -> Found:
    limits = Limits(conf().FAILOVER_SECONDS, conf().database_addresses)
    return compare(Known() if row is None else row.known, facts, limits)

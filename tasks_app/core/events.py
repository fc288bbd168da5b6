"""What can happen, and how it is told: the catalogue of events, patterns over their names, one event as others get it.

Writing them is lifecycle's business. A row of the outbox tells what one statement did for one tenant, so it may be a
thousand events; `OutboxRow.events` takes it apart.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from .errors import InvalidConfiguration, InvalidTask, nearest, shown
from .states import Status
from .wildcards import matches, refused

NAME_LENGTH = 50
NAME_RULE = "lower-case words joined by dots, the noun first, such as 'order.paid'"
_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
_PATTERN = re.compile(r"!?(\*|[a-z*][a-z0-9_*]*(\.[a-z0-9_*]+)*)")

# Of these Punctual itself tells; an app's own events are about something else.
OWN_NOUNS = ("task", "job", "lane", "limit", "subscription", "campaign", "installation", "site", "tenant", "test")
DEFAULT_EVENTS = ("*", "!task.created", "!task.released", "!task.succeeded")


class Kind(NamedTuple):
    """One kind of event: its name, what it says in a sentence, and the JSON schema of its `data`."""

    name: str
    sentence: str
    data: dict[str, Any]  # a JSON schema, draft 2020-12
    example: object = None  # of its data
    state: Status | None = None  # of the task afterwards, where that is always the same
    run: bool = False  # it tells of a run: it has an attempt, a worker and a batch


class Event(NamedTuple):
    """One event, as a subscriber gets it."""

    row: int  # of the outbox; grows with every event of a unit
    place: int  # in that row, from 1
    type: str
    time: datetime
    tenant: str
    task_type: str | None = None
    key: str | None = None
    task: int | None = None
    job: int | None = None
    fire_time: datetime | None = None
    idem_key: str | None = None
    attempt: int | None = None
    state: str | None = None
    worker: str | None = None
    batch: UUID | None = None
    data: object = None

    @property
    def id(self) -> str:
        """The same whenever and to whomever it is told."""
        return f"{self.row}-{self.place}"

    @property
    def revision(self) -> int:
        """Of its unit: a later change of the same unit has a larger one. They have gaps: compare, don't count."""
        return self.row

    @property
    def unit(self) -> tuple[str, str, str] | None:
        return None if self.key is None else (self.tenant, self.task_type or "", self.key)

    def as_json(self) -> dict[str, object]:
        return {
            "id": self.id,
            "type": self.type,
            "time": self.time.isoformat(),
            "tenant": self.tenant,
            "unit": None if self.key is None else {"task_type": self.task_type, "key": self.key},
            "task": self.task,
            "job": self.job,
            "fire_time": None if self.fire_time is None else self.fire_time.isoformat(),
            "idem_key": self.idem_key,
            "attempt": self.attempt,
            "state": self.state,
            "worker": self.worker,
            "revision": self.row,
            "data": self.data,
        }


class OutboxRow(NamedTuple):
    """A row of the outbox, with its columns in the order of sql/events/outbox_columns.sql.

    An array is empty (None) if there is nothing in it, or nothing that the kind doesn't imply.
    """

    id: int
    created_at: datetime
    tenant: str
    event: str
    task_type: str | None
    worker: str | None
    batch_no: UUID | None
    count: int  # type: ignore[assignment]  # the name of the column: tuple.count is not needed
    task_ids: Sequence[int] | None
    keys: Sequence[str] | None
    jobs: Sequence[int | None] | None
    fire_times: Sequence[datetime | None] | None
    idem_keys: Sequence[str | None] | None
    attempts: Sequence[int | None] | None
    states: Sequence[str | None] | None
    payloads: Sequence[object] | None
    task_id: int | None = None  # of a row that a version before this one wrote, which tells of one task
    payload: object = None  # or of an app's own event

    def events(self) -> Iterator[Event]:
        kind, number = KINDS.get(self.event), self.count
        nothing = (None,) * number
        state = (kind.state if kind else None,) * number
        attempt = (1 if kind and kind.run else None,) * number
        old_task = nothing if self.task_id is None else (self.task_id,)
        old_payload = nothing if self.payload is None else (self.payload,)
        columns = zip(
            nothing if self.keys is None else self.keys,
            old_task if self.task_ids is None else self.task_ids,
            nothing if self.jobs is None else self.jobs,
            nothing if self.fire_times is None else self.fire_times,
            nothing if self.idem_keys is None else self.idem_keys,
            attempt if self.attempts is None else self.attempts,
            state if self.states is None else self.states,
            old_payload if self.payloads is None else self.payloads,
            strict=True,
        )
        told = self.id, self.created_at, self.tenant, self.event, self.task_type, self.worker, self.batch_no
        row, time, tenant, event, task_type, worker, batch = told
        for place, (key, task, job, fire_time, idem_key, attempt_no, now, data) in enumerate(columns, start=1):
            yield Event(
                row, place, event, time, tenant, task_type, key, task, job, fire_time, idem_key, attempt_no, now,
                worker, batch, data,
            )  # fmt: skip


def _object(required: dict[str, Any], **optional: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object. Others may be added to its fields later: receivers leave alone what they don't know."""
    return {"type": "object", "properties": required | optional, "required": list(required)}


def _text(about: str) -> dict[str, Any]:
    return {"type": "string", "description": about}


def _time(about: str) -> dict[str, Any]:
    return {"type": "string", "format": "date-time", "description": about}


def _perhaps(schema: dict[str, Any]) -> dict[str, Any]:
    return schema | {"type": [schema["type"], "null"]}


def _number(about: str) -> dict[str, Any]:
    return {"type": "number", "description": about}


def _integer(about: str) -> dict[str, Any]:
    return {"type": "integer", "description": about}


NOTHING = {"type": "null"}
_ERROR = {"code": _text("The error code."), "message": _text("The first 500 characters of its message.")}
_BY = {"by": _text("Who did it: a person, a token, or `system`.")}
_JOB = {"name": _text("The job's name."), "revision": _integer("The job's own revision.")}
_LANES = {"type": "array", "items": {"type": "string"}, "description": "The lanes that it is about."}
_TENANT = {"name": _text("The tenant.")}
_MEMBER = {"tenant": _text("The tenant."), "user": _text("Who.")}
_AT = "2026-11-16T09:00:00+00:00"
_LATER = "2026-11-16T09:30:00+00:00"

_OWN = (
    Kind(
        "task.created",
        "A unit has a new task: it was scheduled, planned by a job or triggered. If it waits for others, it says so.",
        _object({"at": _time("When it is to run.")}, replaces=_integer("The finished task that it took over from.")),
        {"at": _AT},
        Status.INIT,
    ),
    Kind(
        "task.updated",
        "A task that nobody was running got another time; it is the same task.",
        _object({"old": _time("When it was to run."), "new": _time("When it is to run now.")}),
        {"old": _AT, "new": _LATER},
    ),
    Kind(
        "task.replaced",
        "A task got another time while it ran: that run is cancelled, and this new task took over.",
        _object(
            {
                "replaces": _integer("The task that was running."),
                "old": _time("When that was to run."),
                "new": _time("When this one is to run."),
            }
        ),
        {"replaces": 41, "old": _AT, "new": _LATER},
        Status.INIT,
    ),
    Kind(
        "task.released",
        "A task that waited for others is due: they ended as its job wants it.",
        _object({"at": _time("When it is to run; that may have passed while it waited.")}),
        {"at": _AT},
        Status.INIT,
    ),
    Kind(
        "task.late",
        "A run began later than it could have by more than `LATE_SECONDS`.",
        _object({"due": _time("When it could have begun."), "late_seconds": _number("How much later it began.")}),
        {"due": _AT, "late_seconds": 95.2},
        Status.RUNNING,
        run=True,
    ),
    Kind("task.succeeded", "A run succeeded.", NOTHING, None, Status.SUCCESS, run=True),
    Kind(
        "task.failed",
        "A run failed, and the task will be tried again, or, if it rolls, runs again at its usual time.",
        _object(_ERROR, next=_time("When it is due again, if that is known.")),
        {"code": "RETRYABLE", "message": "gateway answered 503", "next": _LATER},
        Status.FAIL,
        run=True,
    ),
    Kind(
        "task.dead",
        "A run failed and the task has given up: it has a dead letter.",
        _object(
            _ERROR | {"fingerprint": _text("The same for all deaths of one cause.")},
            tags={"type": "array", "items": {"type": "string"}, "description": "Of its dead letter."},
        ),
        {"code": "UNRECOVERABLE", "message": "no such account", "fingerprint": "3f1c9a52d07be684", "tags": ["billing"]},
        Status.DEAD,
        run=True,
    ),
    Kind(
        "task.snoozed",
        "A handler asked to be called again later; no retry is used up.",
        _object({"until": _time("When it is due again.")}),
        {"until": _LATER},
        Status.INIT,
        run=True,
    ),
    Kind(
        "task.away",
        "A handler handed its task to somebody else, who reports the outcome later.",
        _object({"until": _time("When it counts as lost, if nothing is heard of it.")}),
        {"until": _LATER},
        Status.AWAY,
        run=True,
    ),
    Kind(
        "task.replayed",
        "A dead task is due again, with a new budget of retries.",
        _object(_BY),
        {"by": "olga"},
        Status.INIT,
    ),
    Kind(
        "task.cancelled",
        "A task will not run, or the run that is under way does not count: it was cancelled, skipped, has expired, was"
        " superseded or discarded, or its job took it back.",
        _object(
            {
                "code": _text(
                    "CANCELLED, SUPERSEDED, EXPIRED, TAKEN_BACK, DISCARDED, PARENT_FAILED, NOT_NEEDED, or the code that"
                    " the handler gave."
                ),
                "reason": _text("Why, in words."),
                "by": _text("Who did it: a person, a token, `handler` or `system`."),
            }
        ),
        {"code": "CANCELLED", "reason": "the order was withdrawn", "by": "olga"},
        Status.CANCELLED,
    ),
    Kind("job.created", "There is a new job.", _object(_JOB | _BY), {"name": "nightly", "revision": 1, "by": "olga"}),
    Kind(
        "job.edited",
        "A job was changed.",
        _object(_JOB | _BY | {"changed": {"type": "array", "items": {"type": "string"}}}),
        {"name": "nightly", "revision": 2, "by": "olga", "changed": ["cron"]},
    ),
    Kind(
        "job.paused",
        "A job makes no tasks until it is resumed.",
        _object(_JOB | _BY | {"until": _perhaps(_time("When it resumes by itself."))}),
        {"name": "nightly", "revision": 3, "by": "olga", "until": None},
    ),
    Kind(
        "job.resumed",
        "A paused job makes tasks again.",
        _object(_JOB | _BY),
        {"name": "nightly", "revision": 4, "by": "olga"},
    ),
    Kind(
        "job.triggered",
        "Somebody asked for an instance of a job, out of turn.",
        _object(_JOB | _BY | {"task": _integer("The instance.")}),
        {"name": "nightly", "revision": 4, "by": "olga", "task": 42},
    ),
    Kind(
        "job.firing_changed",
        "Somebody skipped or moved one firing of a job, or took that back.",
        _object(
            _JOB
            | _BY
            | {
                "fire_time": _time("The firing, by the schedule."),
                "what": _text("skipped, moved or restored."),
                "moved_to": _perhaps(_time("When it runs instead.")),
            }
        ),
        {
            "name": "nightly",
            "revision": 5,
            "by": "olga",
            "fire_time": "2026-11-20T09:00:00+00:00",
            "what": "moved",
            "moved_to": "2026-11-20T18:00:00+00:00",
        },
    ),
    Kind(
        "job.missed",
        "Nobody planned a job in time, so firings of it passed; what its catch-up wants of them runs now.",
        _object(
            {
                "name": _text("The job's name."),
                "count": _integer("How many firings passed; 1,000 stands for that many or more."),
                "first": _time("The first of them."),
                "last": _time("The last of them."),
                "catch_up": _text("What is made up for: none, latest or all."),
            }
        ),
        {"name": "nightly", "count": 3, "first": _AT, "last": _LATER, "catch_up": "latest"},
    ),
    Kind("job.deleted", "A job is gone.", _object(_JOB | _BY), {"name": "nightly", "revision": 5, "by": "olga"}),
    Kind(
        "lane.paused",
        "Nothing of a lane is started until it is resumed.",
        _object({"lane": _text("The lane."), "reason": _text("Why.")} | _BY),
        {"lane": "backfill", "reason": "the gateway is down", "by": "olga"},
    ),
    Kind(
        "lane.resumed",
        "A lane is served again.",
        _object({"lane": _text("The lane.")} | _BY),
        {"lane": "backfill", "by": "olga"},
    ),
    Kind(
        "limit.changed",
        "The limit of a task type was changed or taken away.",
        _object(
            {
                "task_type": _text("The type."),
                "old": {"type": ["object", "null"], "description": "The limit before; null: there was none."},
                "new": {"type": ["object", "null"], "description": "The limit now; null: there is none."},
            },
            **_BY,
        ),
        {"task_type": "STOCK_SYNC", "old": {"rate": 100}, "new": {"rate": 50}, "by": "olga"},
    ),
    Kind(
        "limit.host_changed",
        "The limit of a host that callbacks go to was changed or taken away.",
        _object(
            {
                "host": _text("The host."),
                "old": {"type": ["object", "null"], "description": "The limit before; null: there was none."},
                "new": {"type": ["object", "null"], "description": "The limit now; null: there is none."},
            }
            | _BY
        ),
        {"host": "api.example.com", "old": None, "new": {"max_running": 4, "rate": None, "burst": None}, "by": "olga"},
    ),
    Kind(
        "subscription.suspended",
        "A subscriber could not be reached for so long that nothing is sent to it any more; resume it from there.",
        _object({"name": _text("The subscription."), "reason": _text("What went wrong last.")}),
        {"name": "billing", "reason": "answered 500"},
    ),
    Kind(
        "subscription.resumed",
        "A subscription that was suspended or paused gets events again.",
        _object({"name": _text("The subscription.")} | _BY),
        {"name": "billing", "by": "olga"},
    ),
    Kind(
        "campaign.started",
        "Many tasks are to be replayed, cancelled or moved, at a rate.",
        _object(
            {"campaign": _integer("Its number."), "kind": _text("What it does."), "total": _integer("To how many.")}
            | _BY
        ),
        {"campaign": 7, "kind": "replay", "total": 20_000, "by": "olga"},
    ),
    Kind(
        "campaign.finished",
        "A campaign has done all it was to do, or was cancelled.",
        _object(
            {
                "campaign": _integer("Its number."),
                "kind": _text("What it did."),
                "state": _text("DONE or CANCELLED."),
                "counts": {"type": "object", "description": "How many tasks got which answer."},
            }
        ),
        {"campaign": 7, "kind": "replay", "state": "DONE", "counts": {"replayed": 19_990, "superseded": 10}},
    ),
    Kind("tenant.created", "Somebody has made a tenant.", _object(_TENANT | _BY), {"name": "acme", "by": "olga"}),
    Kind("tenant.edited", "A tenant or a quota was changed.", _object(_TENANT | _BY), {"name": "acme", "by": "olga"}),
    Kind(
        "tenant.suspended",
        "Nothing of a tenant is started or planned any more; what runs goes on.",
        _object(
            _TENANT
            | _BY
            | {
                "reason": _text("Why."),
                "until": _perhaps(_time("It is resumed then; null: when somebody does it.")),
            }
        ),
        {"name": "acme", "by": "olga", "reason": "the invoice is open", "until": None},
    ),
    Kind(
        "tenant.resumed",
        "A tenant that was suspended goes on, with what came due meanwhile.",
        _object(_TENANT | _BY | {"suspended_since": _time("Since when it was suspended.")}),
        {"name": "acme", "by": "olga", "suspended_since": _AT},
    ),
    Kind(
        "tenant.archiving",
        "A tenant is stopped and gets nothing new: all that is its own goes into the archive.",
        _object(_TENANT | _BY | {"reason": _text("Why.")}),
        {"name": "acme", "by": "olga", "reason": "they have left"},
    ),
    Kind(
        "tenant.archived",
        "All that was a tenant's own is in the archive, and nowhere else any more. Its name is not given out again.",
        _object(
            _TENANT
            | _BY
            | {
                "folder": _text("Where it lies, below the archive's root."),
                "rows": _integer("How many rows of all tables that are."),
            }
        ),
        {"name": "acme", "by": "olga", "folder": "tenants/acme/20261116T090000Z", "rows": 81_234},
    ),
    Kind(
        "tenant.key_rotated",
        "A tenant has a new key: what is written from now on is encrypted with it.",
        _object(_TENANT | _BY | {"key": _integer("Its number.")}),
        {"name": "acme", "by": "olga", "key": 17},
    ),
    Kind(
        "tenant.key_destroyed",
        "The keys of a tenant were destroyed: nothing that they have encrypted can be read any more.",
        _object(
            _TENANT | _BY | {"keys": {"type": "array", "items": _integer("A key."), "description": "Their numbers."}}
        ),
        {"name": "acme", "by": "olga", "keys": [17]},
    ),
    Kind(
        "tenant.quota_near",
        "A tenant has used 80 % of a quota, or more. Told again when it has been below that in between.",
        _object(
            _TENANT
            | {
                "quota": _text("Its name, such as `max_tasks`."),
                "limit": _integer("How much it may have."),
                "used": _integer("How much it has."),
            }
        ),
        {"name": "acme", "quota": "max_tasks", "limit": 10_000, "used": 8_123},
    ),
    Kind(
        "member.granted",
        "A person has a role in a tenant, or another one than before.",
        _object(
            _MEMBER | _BY | {"role": _text("What they are there."), "before": _perhaps(_text("What they were before."))}
        ),
        {"tenant": "acme", "user": "ada", "by": "olga", "role": "operator", "before": "viewer"},
    ),
    Kind(
        "member.revoked",
        "A person has no role in a tenant any more.",
        _object(_MEMBER | _BY | {"before": _text("What they were.")}),
        {"tenant": "acme", "user": "ada", "by": "olga", "before": "viewer"},
    ),
    Kind(
        "installation.quarantined",
        "Nothing is dispatched and nobody is called: the database may be a copy, or somebody has stopped it. "
        "Subscribers hear of it when the installation goes on.",
        _object({"reason": _text("Why.")} | _BY),
        {"reason": "This database may be a copy: its timeline was 1, and is 2 now.", "by": "punctual"},
    ),
    Kind(
        "installation.rehearsing",
        "Tasks go to workers, and no handler is called. Subscribers hear of it when the installation goes on.",
        _object({"reason": _text("Why.")} | _BY),
        {"reason": "is the new network well?", "by": "olga"},
    ),
    Kind(
        "installation.resumed",
        "The installation goes on, out of quarantine or a rehearsal, or with what was held after a long downtime.",
        _object(
            {
                "was": _text("QUARANTINED, REHEARSING, or ACTIVE if only what was overdue waited."),
                "choice": _text("What becomes of what is overdue: run, latest, shift or expire."),
                "lanes": _LANES,
                "reason": _text("Why."),
            }
            | _BY
        ),
        {"was": "QUARANTINED", "choice": "expire", "lanes": ["low"], "reason": "the new primary", "by": "olga"},
    ),
    Kind(
        "installation.shifted",
        "What was overdue when the installation went on was moved to later.",
        _object({"tasks": _integer("How many."), "lanes": _LANES} | _BY),
        {"tasks": 214_000, "lanes": ["default", "low"], "by": "olga"},
    ),
    Kind(
        "installation.expired",
        "What had been overdue for too long when the installation went on, or all but the latest firings of jobs, was "
        "cancelled.",
        _object({"tasks": _integer("How many."), "lanes": _LANES, "choice": _text("expire or latest.")} | _BY),
        {"tasks": 214_000, "lanes": ["default", "low"], "choice": "expire", "by": "olga"},
    ),
    Kind(
        "site.activated",
        "A site was chosen: from now on no other one starts tasks.",
        _object(
            {
                "site": _text("The chosen one."),
                "before": {"type": ["string", "null"], "description": "The active one before; null: none was."},
                "epoch": _integer("Grows with every choice."),
            }
            | _BY
        ),
        {"site": "b", "before": "main", "epoch": 3, "by": "olga"},
    ),
    Kind(
        "site.stood_by",
        "All sites stand by: nobody starts tasks until one is activated.",
        _object(
            {
                "before": {"type": ["string", "null"], "description": "The active one before; null: none was."},
                "epoch": _integer("Grows with every choice."),
            }
            | _BY
        ),
        {"before": "main", "epoch": 4, "by": "olga"},
    ),
    Kind(
        "test.event", "Somebody pressed the button that sends a subscriber a test event.", _object(_BY), {"by": "olga"}
    ),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _OWN}


def declare(name: str, sentence: str, data: dict[str, Any], example: object = None) -> Kind:
    """Add an app's own kind to the catalogue, for people and for subscribers; telling an undeclared one works too."""
    kind = Kind(checked_own_name(name), sentence, data, example)
    known = KINDS.setdefault(name, kind)
    if known != kind:
        raise InvalidConfiguration(
            f"event {name!r} is declared twice, in different ways; give one of them another name."
        )
    return kind


def checked_own_name(name: object) -> str:
    """The name of an app's own event."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > NAME_LENGTH:
        raise InvalidTask(
            f"event {shown(name)} is no name for an event; it must be {NAME_RULE}, "
            f"and at most {NAME_LENGTH} characters long."
        )
    noun = name.partition(".")[0]
    if noun in OWN_NOUNS:
        raise InvalidTask(
            f"event {name!r} begins with {noun!r}, of which only Punctual itself tells ({', '.join(OWN_NOUNS)}). "
            "Begin it with a noun of your own."
        )
    return name


class Patterns:
    """Names of events, with `*` for any characters and `!` for "but not"; the last that matches decides."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        self._rules = [(one.removeprefix("!"), not one.startswith("!")) for one in self.patterns]
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = next((yes for rule, yes in reversed(self._rules) if matches(rule, name)), False)
        return self._known[name]

    def __repr__(self) -> str:
        return f"Patterns({list(self.patterns)!r})"


@lru_cache(maxsize=1_000)
def not_kept(patterns: tuple[str, ...], kept: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Of the patterns of a subscription, each that matches events that an installation does not keep, and these."""
    wanted, there = Patterns(patterns), Patterns(kept)
    names = [*KINDS, *(one for one in patterns if one not in KINDS and not {"*", "!"} & set(one))]
    missing = [name for name in names if name in wanted and name not in there]
    found = ((one, tuple(name for name in missing if matches(one, name))) for one in patterns)
    return tuple((one, events) for one, events in found if events)


def problems_of(patterns: Sequence[object], where: str) -> Iterator[str]:
    """What is wrong with patterns of events, one sentence each; `where` is what they were given for."""
    for one in patterns:
        if not isinstance(one, str) or not _PATTERN.fullmatch(one):
            yield (
                f"{where} has {shown(one)}, which is no pattern for events. A pattern is the name of an event, in "
                "which * stands for any characters, such as 'task.dead', 'task.*' or '*'. With ! in front it leaves "
                "events out."
            )
        elif too_much := refused(one):
            yield f"{where} has {too_much}"
        elif _about_ours(one) and not any(matches(one.removeprefix("!"), name) for name in KINDS):
            yield (
                f"{where} has {one!r}, and there is no such event.{nearest(one.removeprefix('!'), KINDS)} "
                "`manage.py punctual_help events` lists them all."
            )


def _about_ours(pattern: str) -> bool:
    """Only of our own nouns do we know all the events there can be."""
    noun, dot, _ = pattern.removeprefix("!").partition(".")
    return bool(dot) and noun in OWN_NOUNS


def schema_of(kind: Kind) -> dict[str, Any]:
    """The JSON schema of a whole event of this kind, as `Event.as_json` gives it."""
    properties = _ENVELOPE | {"type": {"const": kind.name}, "data": kind.data}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind.name,
        "description": kind.sentence,
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }


_ENVELOPE = {
    "id": _text("Stable: the same event has the same id whenever and to whomever it is sent.")
    | {"pattern": r"^\d+-\d+$"},
    "type": _text("The kind."),
    "time": _time("When it happened, by the database's clock."),
    "tenant": _text("Whose it is; `internal` for what concerns all tenants."),
    "unit": {
        "type": ["object", "null"],
        "properties": {"task_type": _text("The task type."), "key": _text("The unit's key.")},
        "required": ["task_type", "key"],
        "description": "What it is about: with the tenant it names a unit. Events of one unit come in order.",
    },
    "task": _perhaps(_integer("The task.")),
    "job": _perhaps(_integer("The job that made the task, or that it is about.")),
    "fire_time": _perhaps(_time("The time for which the job made the task.")),
    "idem_key": _perhaps(_text("The idempotency key that the task was scheduled with.")),
    "attempt": _perhaps(_integer("Of a run: the number of the try, from 1.")),
    "state": _perhaps(_text("The task's state afterwards.")),
    "worker": _perhaps(_text("Of a run: who ran it.")),
    "revision": _integer("Grows with every event of the unit: an event with a smaller one is older. There are gaps."),
    "data": {},
}

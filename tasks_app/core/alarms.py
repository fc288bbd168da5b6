"""Alarms as plain Python: what can be wrong, which of it a rule is about, and how it is put into words for people."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from .phrases import counted, first_line, for_outsiders, span
from .said import Said, packed, said, said_of, unpacked
from .wildcards import matches, refused

WELL_AFTER_SECONDS = 60.0  # what is found by looking is over when it has not been found for so long
SOON_SECONDS = 5.0  # the first alert waits so long for others of the same cause
PATIENCE_SECONDS = 60.0  # a trouble of the scheduler itself that passes within this time is told to nobody
ERROR_LENGTH = 300
MOST_NAMED = 5  # jobs in a sample
PACKED = "packed"  # where a stored sample has what its sentence was made of


class Condition(StrEnum):
    """What a rule can be about."""

    DEAD = "dead"
    LATE = "late"
    RUNNING = "running"
    MISSED = "missed"
    SUSPENDED = "suspended"
    BLOCKED = "blocked"
    QUOTA = "quota"
    TROUBLE = "trouble"
    SAFEGUARD = "safeguard"
    QUARANTINE = "quarantine"

    @property
    def is_level(self) -> bool:
        """Found by looking, and there for as long as it is found; the others are told by events, and counted."""
        levels = (Condition.RUNNING, Condition.BLOCKED, Condition.QUOTA, Condition.TROUBLE, Condition.SAFEGUARD)
        return self in levels


# As a page offers them; docs/alarms.md has the same, and a test compares them.
WORDS = {
    Condition.DEAD: "a task gives up",
    Condition.LATE: "a task starts too late",
    Condition.RUNNING: "a task runs too long",
    Condition.MISSED: "a job misses a firing",
    Condition.SUSPENDED: "a subscription is suspended",
    Condition.BLOCKED: "tasks wait for one that failed",
    Condition.QUOTA: "a tenant comes near a quota",
    Condition.TROUBLE: "the scheduler itself is in trouble",
    Condition.SAFEGUARD: "a safeguard goes on",
    Condition.QUARANTINE: "the installation was in quarantine",
}
# What nobody should find out by chance: where no rule is about it, pages and checks say so.
ESSENTIAL = (Condition.DEAD, Condition.BLOCKED, Condition.TROUBLE)
OPERATORS_ONLY = (Condition.TROUBLE, Condition.SAFEGUARD, Condition.QUARANTINE)  # they are of all tenants


class ChannelKind(StrEnum):
    WEBHOOK = "webhook"
    EMAIL = "email"
    CHAT = "chat"


class AlertKind(StrEnum):
    """Why somebody is told."""

    OPENED = "opened"
    AGAIN = "again"
    WELL = "well"
    DIGEST = "digest"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Something that was seen: once, or `count` times for the same cause in the same look."""

    condition: Condition
    tenant: str | None  # None: the scheduler's own
    cause: str = ""  # what makes two of them the same incident, beside the rule and the type
    task_type: str = ""
    job: int | None = None
    count: int = 1
    seconds: float = 0.0  # how late, or how long: the worst of them
    each: tuple[float, ...] = ()  # how late, one by one, where rules differ in what they call late
    sample: Mapping[str, Any] = field(default_factory=dict)

    def plus(self, other: "Occurrence") -> "Occurrence":
        """Both, seen as one: the worse of the two stands for them."""
        worse = other if other.seconds > self.seconds else self
        sample = dict(worse.sample)
        if "jobs" in sample:
            sample["jobs"] = list(dict.fromkeys([*self.sample["jobs"], *other.sample["jobs"]]))[:MOST_NAMED]
        return replace(worse, count=self.count + other.count, each=self.each + other.each, sample=sample)

    @property
    def group(self) -> tuple[str, str]:
        """The type and the cause that an incident has. All that was missed is one: nobody planned for a while."""
        return ("", "") if self.condition is Condition.MISSED else (self.task_type, self.cause)


# What looks at the scheduler itself; the beats ask them, and don't know who they are.
LOOKS: list[Callable[[], Iterable[Occurrence]]] = []


@dataclass(frozen=True, slots=True)
class Scope:
    """What a rule is about, as far as an occurrence can tell."""

    tenant: str | None  # None: all of them
    conditions: frozenset[str]
    task_types: tuple[str, ...] = ()  # patterns; none: all types
    job: int | None = None
    late_seconds: float | None = None
    running_seconds: float | None = None

    def counted(self, seen: Occurrence) -> int:
        """How many of these are this rule's business."""
        if (
            seen.condition not in self.conditions
            or (self.tenant is not None and self.tenant != seen.tenant)
            or (self.job is not None and self.job != seen.job)
            or not self._covers_type(seen)
        ):
            return 0
        least = self._least_seconds(seen.condition)
        if seen.each:
            return sum(seconds > least for seconds in seen.each)
        return seen.count if seen.seconds > least else 0

    def _covers_type(self, seen: Occurrence) -> bool:
        if not self.task_types or seen.condition in (*OPERATORS_ONLY, Condition.SUSPENDED, Condition.QUOTA):
            return True
        return any(matches(pattern, seen.task_type) for pattern in self.task_types)

    def _least_seconds(self, condition: Condition) -> float:
        least = {Condition.LATE: self.late_seconds, Condition.RUNNING: self.running_seconds}.get(condition)
        return -1.0 if least is None else least


@dataclass(frozen=True, slots=True)
class Facts:
    """An incident as it is told: what is wrong, since when, how often."""

    condition: Condition
    cause: str
    task_type: str
    count: int
    new: int  # since somebody was last told
    opened_at: datetime
    seen_at: datetime
    seconds: float
    sample: Mapping[str, object]


def title(kind: AlertKind, facts: Facts) -> str:
    """One line: the subject of a mail, the first line in a chat."""
    subject = _subject(facts)
    if kind is AlertKind.WELL:
        return f"Well again: {subject}"
    return subject if isinstance(subject, Said) else f"{subject[:1].upper()}{subject[1:]}"


def sentences(kind: AlertKind, facts: Facts) -> list[str]:
    """What is said below the title."""
    told = [_history(kind, facts)]
    if kind is not AlertKind.WELL:
        told += [*_error(facts.sample), *_example(facts.sample)]
    return told


def _subject(facts: Facts) -> str:
    count, more = facts.count, {"count": f"{facts.count:,}", "type": facts.task_type}
    time = timedelta(seconds=facts.seconds)
    match facts.condition:
        case Condition.DEAD:
            return _gave_up(facts)
        case Condition.LATE:
            return said_of(
                "{count} task of {type} started up to {time} late",
                "{count} tasks of {type} started up to {time} late",
                count,
                time=time,
                **more,
            )
        case Condition.RUNNING:
            return said_of(
                "{count} task of {type} has been running for up to {time}",
                "{count} tasks of {type} have been running for up to {time}",
                count,
                time=time,
                **more,
            )
        case Condition.MISSED:
            return said_of("{count} firing of jobs was missed", "{count} firings of jobs were missed", count, **more)
        case Condition.SUSPENDED:
            return said("Subscription {name} is suspended", name=repr(facts.cause))
        case Condition.BLOCKED:
            return _waits(facts)
        case _:
            return _sentence(facts.sample) or facts.cause


def _gave_up(facts: Facts) -> Said:
    count, more = facts.count, {"count": f"{facts.count:,}", "type": facts.task_type}
    if facts.task_type:
        what = said_of("{count} task of {type} gave up", "{count} tasks of {type} gave up", count, **more)
    else:
        what = said_of("{count} task gave up", "{count} tasks gave up", count, **more)
    why = facts.sample.get("error_code") or facts.cause
    return said("{what}: {why}", what=what, why=why) if facts.cause else what


def _waits(facts: Facts) -> Said:
    more = {"count": f"{facts.count:,}", "parent": repr(facts.sample.get("parent"))}
    if facts.sample.get("status") == "DEAD":
        return said_of(
            "{count} task waits for {parent}, which gave up",
            "{count} tasks wait for {parent}, which gave up",
            facts.count,
            **more,
        )
    return said_of(
        "{count} task waits for {parent}, which was cancelled",
        "{count} tasks wait for {parent}, which was cancelled",
        facts.count,
        **more,
    )


def _sentence(sample: Mapping[str, object]) -> str:
    """What somebody else has said; incidents that were stored by a version before have no more than its English."""
    stored = sample.get(PACKED)
    return unpacked(stored) if isinstance(stored, Mapping) else str(sample.get("sentence") or "")


def stored_sample(sample: Mapping[str, object]) -> dict[str, object]:
    """As it is kept: a sentence that can be said in another language still can."""
    told = sample.get("sentence")
    return {**sample, PACKED: packed(told)} if isinstance(told, Said) else dict(sample)


def _history(kind: AlertKind, facts: Facts) -> str:
    since = f"{facts.opened_at:%Y-%m-%d %H:%M:%S} UTC"
    if kind is AlertKind.WELL:
        lasted = span(facts.seen_at - facts.opened_at)
        if facts.condition.is_level or facts.opened_at == facts.seen_at:
            return f"It began at {since} and was last seen at {facts.seen_at:%H:%M:%S} UTC."
        return f"It began at {since} and happened {counted(facts.count, 'time')} within {lasted}; no more since then."
    if kind is AlertKind.AGAIN and facts.condition.is_level:
        return f"It began at {since} and goes on."
    if kind is AlertKind.AGAIN:
        return f"It began at {since}; {facts.new:,} more since the last alert, {facts.count:,} in all."
    return f"It began at {since}."


def _error(sample: Mapping[str, object]) -> list[str]:
    found = []
    if message := first_line(for_outsiders(str(sample.get("error_msg") or "")))[:ERROR_LENGTH]:
        found.append(f"The error: {message}")
    if way_out := sample.get("way_out"):
        found.append(str(way_out))
    if reason := sample.get("reason"):
        found.append(f"The reason: {first_line(for_outsiders(str(reason)))[:ERROR_LENGTH]}")
    return found


def _example(sample: Mapping[str, Any]) -> list[str]:
    if waiting := sample.get("waiting"):
        more = int(sample.get("more") or 0)
        names = ", ".join(map(str, waiting)) + (f" and {more:,} more" if more else "")
        return [f"Waiting: {names}.", f"It failed as task {sample.get('task')} ({sample.get('key')})."]
    if jobs := sample.get("jobs"):
        return [f"Among them: {', '.join(map(str, jobs))}."]
    if sample.get("task") is None:
        return []
    key = f" ({sample['key']})" if sample.get("key") else ""
    return [f"For example task {sample['task']}{key} of tenant {sample.get('tenant')}."]


def digest_title(count: int) -> str:
    return f"{counted(count, 'alert')} at once"


def refused_patterns(patterns: Sequence[str]) -> str | None:
    """Why these can't be patterns of task types; None if they can."""
    for one in patterns:
        if not isinstance(one, str) or not one or not one.isprintable():
            return f"{one!r:.60} is not a pattern of task types; give names, with * for any letters, such as INVOICE_*."
        if too_much := refused(one):
            return too_much
    return None

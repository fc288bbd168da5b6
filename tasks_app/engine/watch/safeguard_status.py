"""Safeguards as people and tools see them: each with its limits, what it does now, and what it did. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.safeguards import PLANNED, WORDS, Curb, Mode, Name, Order, limit_of, stages_of
from tasks_app.core.said import joined, said
from tasks_app.models import Curb as CurbRow
from tasks_app.models import Safeguard, SafeguardIncident

MOST_ACTIONS = 10  # in one sentence


@dataclass(frozen=True, slots=True)
class OrderView:
    kind: str  # force, forbid or end
    stage: int
    by: str
    reason: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class SubjectView:
    """One safeguard and what it is about, if anything is to be told of it."""

    subject: str
    stage: int
    since: datetime | None  # of the stage
    over_since: datetime | None
    calm_since: datetime | None
    figures: dict[str, Any]
    actions: list[str]
    order: OrderView | None

    @property
    def state(self) -> str:
        if self.stage:
            return "on"
        if self.order is not None and self.order.kind == Order.FORBID:
            return "forbidden"
        return "about to go on" if self.over_since else "off"


@dataclass(frozen=True, slots=True)
class SafeguardView:
    name: str
    words: str
    mode: str
    limit: float
    sample: int
    on_seconds: float
    off_seconds: float
    stages: int
    subjects: list[SubjectView]

    @property
    def about(self) -> str:
        """What it is about, and from which figure on."""
        return ": ".join(filter(None, (self.words, limit_of(self.name, self.limit))))

    @property
    def stage(self) -> int:
        return max((one.stage for one in self.subjects), default=0)


@dataclass(frozen=True, slots=True)
class ActingView:
    """An incident of a safeguard that is not over."""

    id: int
    name: str
    subject: str
    sentence: str
    stage: int
    dry: bool
    opened_at: datetime
    seconds: float
    actions: list[str]

    @property
    def told(self) -> str:
        """What it found, and what it holds back, is stored: in English."""
        of = f"{self.name} ({self.subject})" if self.subject else self.name
        held = "; ".join(self.actions[:MOST_ACTIONS]) if self.actions else said("nothing is held back")
        since = timedelta(seconds=self.seconds)
        on = said("Safeguard {name} has been on for {time}: {held}.", name=of, time=since, held=held)
        return joined(on, self.sentence, said("It only tells, as it is set.") if self.dry else "")

    def __str__(self) -> str:
        return str(self.told)


@dataclass(frozen=True, slots=True)
class IncidentView:
    id: int
    name: str
    subject: str
    sentence: str
    figures: dict[str, Any]
    actions: list[dict[str, Any]]
    stage: int
    dry: bool
    forced_by: str
    opened_at: datetime
    closed_at: datetime | None
    ending: str


def read_safeguards() -> list[SafeguardView]:
    """All there are, with what is on, about to be, or decided by an operator."""
    curbs: dict[tuple[str, str], list[str]] = {}
    for row in CurbRow.objects.order_by("id"):
        words = Curb(row.kind, row.target, row.rate, row.max_running, row.of_tenant).words
        curbs.setdefault((row.name, row.subject), []).append(words)
    rows: dict[str, list[SubjectView]] = {}
    for row in Safeguard.objects.order_by("subject"):
        if row.stage or row.over_since or row.order:
            rows.setdefault(row.name, []).append(_subject(row, curbs.get((row.name, row.subject), [])))
    return [_view(name, rows.get(name, [])) for name in Name if name not in PLANNED or conf().peaks or name in rows]


def _view(name: Name, subjects: list[SubjectView]) -> SafeguardView:
    policy = conf().safeguards[name]
    figures = (policy.limit, policy.sample, policy.on_seconds, policy.off_seconds)
    return SafeguardView(str(name), WORDS[name], str(Mode(policy.mode)), *figures, stages_of(name), subjects)


def _subject(row: Safeguard, actions: list[str]) -> SubjectView:
    order = None
    if row.order:
        order = OrderView(row.order, row.order_stage, row.order_by, row.order_reason, row.order_until)
    seen = (row.stage, row.stage_since, row.over_since, row.calm_since, row.figures, actions, order)
    return SubjectView(row.subject, *seen)


def acting() -> list[ActingView]:
    """What safeguards do now, the oldest first: for a banner, the verdict and alarms. One small statement."""
    rows = SafeguardIncident.objects.filter(closed_at__isnull=True).annotate(age=Now() - F("opened_at"))
    return [
        ActingView(
            row.id,
            row.name,
            row.subject,
            row.sentence,
            row.stage,
            row.dry,
            row.opened_at,
            row.age.total_seconds(),
            row.actions[-1]["actions"] if row.actions else [],
        )
        for row in rows.order_by("opened_at", "id")
    ]


def page_of_incidents(before: int | None, size: int, name: str | None = None) -> Sequence[IncidentView]:
    """The newest first, those before this one."""
    found = SafeguardIncident.objects.order_by("-id")
    found = found if before is None else found.filter(id__lt=before)
    found = found if name is None else found.filter(name=name)
    return [IncidentView(**row) for row in found.values(*IncidentView.__dataclass_fields__)[:size]]

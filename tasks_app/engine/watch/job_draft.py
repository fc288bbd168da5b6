"""What a job would be like that somebody is about to save: its next times, what it adds to the load, what is wrong.

The console's form and the API show this one while somebody types. Nothing is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from tasks_app.core.errors import InvalidTask
from tasks_app.core.firing_load import MINUTES, Advice
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.database import atomic
from tasks_app.lifecycle.jobs.request import JobRequest, field_of
from tasks_app.lifecycle.jobs.view import Coming, FallsOut, draft_of, firing_in_words, previewed
from tasks_app.models import JobDefinition

from .firing_load import Capacity, advice_as_told, advice_for, firings_in_a_day, load_forecast

TIMES = 5
STEP_MINUTES = 15


class FieldError(NamedTuple):
    field: str | None  # None: it is about none of them, or about several
    detail: str


@dataclass(frozen=True, slots=True)
class DayStrip:
    """The next day in steps, each by its busiest minute."""

    begins: datetime
    others: list[int]  # firings of all jobs there are in the busiest minute of each step
    own: list[int]  # firings of this one in each step
    capacity: Capacity
    age_seconds: float


@dataclass(frozen=True, slots=True)
class JobDraft:
    errors: list[FieldError] = field(default_factory=list)  # why it could not be saved as it is
    job: JobDefinition | None = None  # None: it can't be said when it would fire
    words: str | None = None
    times: list[Coming] = field(default_factory=list)
    out: list[FallsOut] = field(default_factory=list)
    day: DayStrip | None = None
    advice: Advice | None = None

    def told(self) -> dict[str, Any]:
        """As panels read it: the same from the API and from the console's form."""
        job, day, advice = self.job, self.day, self.advice
        times: list[dict[str, object]] = []
        if job is not None:
            times = [
                {"at": one.at, "fire_time": one.fire_time, "words": firing_in_words(job, one)} for one in self.times
            ]
        return {
            "words": self.words,
            "times": times,
            "falls_out": [
                {"fire_time": one.fire_time, "skipped": one.override, "words": one.words} for one in self.out
            ],
            "day": day
            and {
                "begins": day.begins,
                "step_minutes": STEP_MINUTES,
                "others": day.others,
                "own": day.own,
                "capacity_per_minute": day.capacity.per_minute,
                "age_seconds": day.age_seconds,
            },
            "advice": advice_as_told(advice, day.capacity) if advice and day else None,
            "errors": [one._asdict() for one in self.errors],
        }


def read_draft(
    request: JobRequest,
    was: JobDefinition | None = None,
    tenant: str = DEFAULT_TENANT,
    known: Sequence[FieldError] = (),
    count: int = TIMES,
) -> JobDraft:
    """`known` is what is wrong already; nothing more is said about those fields."""
    with atomic():  # a calendar stays as it is while we look
        job, refused = draft_of(request, was, tenant)
        found = [FieldError(field_of(one), str(one)) for one in refused]
        told = {one.field for one in known}
        errors = [*known, *(one for one in found if one.field not in told)]
        if job is None or job.has_parents:  # when its parents are done, nobody knows
            return JobDraft(errors)
        try:
            coming = previewed(job, count)
        except InvalidTask as error:
            return JobDraft([*errors, FieldError(field_of(error), str(error))])
    return JobDraft(errors, job, job.schedule.words, coming.times, coming.out, _day(job), advice_for(job, was))


def missing_fields(given: Mapping[str, object], types: str) -> list[FieldError]:
    """What a job can't do without; `types` says which task types there are."""
    words = {"name": "name is missing; give the job one that no other job of its tenant has.", "task_type": types}
    return [FieldError(name, detail) for name, detail in words.items() if not given.get(name)]


def _day(job: JobDefinition) -> DayStrip:
    found = load_forecast()
    total, own = found.load.total, [0] * (MINUTES // STEP_MINUTES)
    for minute in firings_in_a_day(job, found.load.begins):
        own[minute // STEP_MINUTES] += 1
    others = [max(total[low : low + STEP_MINUTES]) for low in range(0, MINUTES, STEP_MINUTES)]
    return DayStrip(found.load.begins, others, own, found.capacity, found.age_seconds)

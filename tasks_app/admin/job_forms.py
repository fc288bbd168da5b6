"""What people type into the pages of jobs: the filter of the list, a job, and an order with its reason."""

import json
import re
from collections.abc import Iterable
from dataclasses import MISSING, fields
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from tasks_app.core.backfill import Which
from tasks_app.core.calendars import OnDayOff
from tasks_app.core.campaigns import CAP
from tasks_app.core.errors import PunctualError
from tasks_app.core.graphs import IfParentFails, When
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.jobs import CatchUp, JobStatus, OnResume, Overlap
from tasks_app.core.json_parts import MOST_PARTS, too_many_parts
from tasks_app.core.lanes import LANES
from tasks_app.core.schedule import Gap, Repeat
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.core.zones import known_zones
from tasks_app.engine.operations.backfill import BackfillRequest
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.engine.watch.job_browse import JobFilter, Sort
from tasks_app.engine.watch.job_draft import FieldError
from tasks_app.lifecycle.audit import REASON_LENGTH
from tasks_app.lifecycle.jobs.request import JobRequest, as_request, field_of
from tasks_app.models import Calendar, JobDefinition
from tasks_app.models.calendar import CALENDAR_NAME_LENGTH
from tasks_app.models.job_definition import NAME_LENGTH

from .forms import (
    LaneField,
    TenantField,
    UtcField,
    cap_field,
    lane_field,
    most_running_field,
    pace_of,
    rate_field,
    reason_field,
)

LONGEST_JSON = 1_000_000  # characters
_DEFAULTS = {field.name: field.default for field in fields(JobRequest) if field.default is not MISSING}
_GROUPS = (
    (gettext_lazy("What runs"), ("tenant", "name", "task_type", "lane", "payload")),
    (
        gettext_lazy("When it fires"),
        (
            "cron",
            "every",
            "at",
            "timezone",
            "dst_gap",
            "dst_repeat",
            "calendar",
            "on_day_off",
        ),
    ),
    (gettext_lazy("Or after other jobs"), ("parents", "when", "if_parent_fails")),
    (gettext_lazy("Limits"), ("start_at", "end_at", "max_runs", "jitter")),
    (gettext_lazy("When it fails, or is late"), ("timeout", "max_retry", "backoff", "expires_after")),
    (gettext_lazy("When firings were missed"), ("catch_up", "catch_up_window", "catch_up_most")),
    (gettext_lazy("When an older instance is still under way"), ("overlap",)),
    (gettext_lazy("Why"), ("reason",)),
)
_DAY_OFF_WORDS = {
    OnDayOff.SKIP: gettext_lazy("skip: it falls out"),
    OnDayOff.SHIFT: gettext_lazy("shift: it comes on the next working day, at the same time"),
}
_RESUME_WORDS = {
    OnResume.SKIP: gettext_lazy("Skip the firings that the pause left out"),
    OnResume.LATEST: gettext_lazy("Run the latest of them"),
    OnResume.ALL: gettext_lazy("Run all of them"),
}
OVERLAP_WORDS = {
    Overlap.ALLOW: gettext_lazy("Run beside it"),
    Overlap.SKIP: gettext_lazy("Skip the firing"),
    Overlap.QUEUE_ONE: gettext_lazy("Wait for it; skip the firings while one waits"),
    Overlap.QUEUE_ALL: gettext_lazy("Wait for it, one after another"),
    Overlap.REPLACE: gettext_lazy("Cancel the older one"),
}


_WHEN_WORDS = {
    When.ALL_SUCCESS: gettext_lazy("all of them have succeeded"),
    When.ALL_DONE: gettext_lazy("all of them are over"),
    When.ANY_FAILED: gettext_lazy("one of them has failed"),
}
_FAILS_WORDS = {
    IfParentFails.WAIT: gettext_lazy("it waits until somebody acts"),
    IfParentFails.CANCEL: gettext_lazy("it is cancelled"),
}


def _utc(label: str) -> UtcField:
    widget = forms.DateTimeInput(format="%Y-%m-%dT%H:%M:%S", attrs={"type": "datetime-local", "step": 1})
    return UtcField(label=format_lazy(gettext_lazy("{label} (UTC)"), label=label), required=False, widget=widget)


class JsonField(forms.CharField):
    """Any JSON; empty is None. It may be longer than a payload is stored: people write it with spaces."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false"})

    def clean(self, value: object) -> object:
        text = super().clean(value)
        if not text:
            return None
        if len(text) > LONGEST_JSON:
            raise forms.ValidationError(
                gettext(
                    "It has {length:,} characters; at most {most:,} are allowed. Keep the data in a table of your own, "
                    "and give its id."
                ).format(length=len(text), most=LONGEST_JSON)
            )
        if parts := too_many_parts(text.encode(errors="replace")):
            raise forms.ValidationError(
                gettext(
                    "It has {parts:,} parts (values, lists and objects); at most {most:,} are allowed. Keep the data "
                    "in a table of your own, and give its id."
                ).format(parts=parts, most=MOST_PARTS)
            )
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(
                gettext("This is not JSON: {error}. Write it like {example}.").format(
                    error=error, example='{"customer": 7}'
                )
            ) from None

    def has_changed(self, initial: str | None, data: str | None) -> bool:
        """Another value, and not only other line ends or spaces: browsers send their own."""
        if len(data or "") > LONGEST_JSON:
            return True
        try:
            return bool(json.loads(initial or "null") != json.loads((data or "").strip() or "null"))
        except (ValueError, RecursionError, TypeError):
            return True


class DelaysField(forms.CharField):
    """Seconds, with commas between them; empty is None."""

    def clean(self, value: object) -> list[float] | None:
        text = super().clean(value)
        if not text:
            return None
        try:
            return [float(one) for one in text.split(",")]
        except ValueError:
            raise forms.ValidationError(
                gettext("{text!r} is not a list of seconds; write it like 1, 5, 30.").format(text=text[:40])
            ) from None


class NamesField(forms.CharField):
    """Names, each on a line of its own; empty is none."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def clean(self, value: object) -> list[str]:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]

    def has_changed(self, initial: str | None, data: str | None) -> bool:
        return self.clean(initial or "") != self.clean(data or "")


class JobFilterForm(forms.Form):
    tenant = TenantField(required=False)
    name = forms.CharField(label=gettext_lazy("Name begins with"), required=False, max_length=NAME_LENGTH, strip=False)
    status = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[("", gettext_lazy("Any")), *((one, one.title()) for one in map(str, JobStatus))],
    )
    type = forms.CharField(label=gettext_lazy("Type"), required=False, max_length=100)
    sort = forms.ChoiceField(
        label=gettext_lazy("Sorted by"),
        required=False,
        choices=[
            ("", gettext_lazy("Name")),
            (Sort.RESULT.value, gettext_lazy("Last result, trouble first")),
            (Sort.LATENESS.value, gettext_lazy("Lateness of the last run")),
            (Sort.NEXT.value, gettext_lazy("Next firing")),
        ],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["tenant"].widget.attrs["placeholder"] = DEFAULT_TENANT
        self.fields["type"].widget.attrs |= {"list": "task-types", "autocomplete": "off"}

    @property
    def filter(self) -> JobFilter:
        given = {name: value or None for name, value in self.cleaned_data.items()}
        tenant = given["tenant"] or DEFAULT_TENANT
        return JobFilter(tenant, given["status"], given["type"], prefix=given["name"])


class JobForm(forms.Form):
    """A job as its fields. What makes no sense is told by the same rules as everywhere, beside its field."""

    tenant = TenantField(initial=DEFAULT_TENANT)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=NAME_LENGTH)
    task_type = forms.CharField(label=gettext_lazy("Task type"), max_length=100)
    payload = JsonField(label=gettext_lazy("Payload (JSON)"), required=False)
    cron = forms.CharField(label=gettext_lazy("Cron string"), required=False, max_length=256)
    every = forms.IntegerField(label=gettext_lazy("Or an interval in seconds"), required=False)
    at = _utc(gettext_lazy("Or once, at"))
    timezone = forms.CharField(label=gettext_lazy("Time zone"), max_length=64)
    dst_gap = forms.ChoiceField(
        label=gettext_lazy("When the clocks skip its time"), choices=[(str(one), str(one)) for one in Gap]
    )
    dst_repeat = forms.ChoiceField(
        label=gettext_lazy("When the clocks show it twice"), choices=[(str(one), str(one)) for one in Repeat]
    )
    calendar = forms.CharField(
        label=gettext_lazy("Calendar whose days off it keeps; empty: none"),
        required=False,
        max_length=CALENDAR_NAME_LENGTH,
    )
    on_day_off = forms.ChoiceField(
        label=gettext_lazy("A firing on a day off"),
        required=False,
        choices=[(str(one), words) for one, words in _DAY_OFF_WORDS.items()],
    )
    lane = LaneField(
        label=gettext_lazy("Lane"),
        required=False,
        choices=[("", gettext_lazy("The handler's")), *((one, one) for one in LANES)],
    )
    timeout = forms.FloatField(label=gettext_lazy("Time-out in seconds; empty: the handler's"), required=False)
    max_retry = forms.IntegerField(label=gettext_lazy("Retries; empty: the handler's"), required=False)
    backoff = DelaysField(
        label=gettext_lazy("Seconds before each retry; empty: the handler's"), required=False, max_length=2000
    )
    expires_after = forms.FloatField(label=gettext_lazy("Skipped if later than this many seconds"), required=False)
    start_at = _utc(gettext_lazy("No firing before"))
    end_at = _utc(gettext_lazy("No firing after"))
    max_runs = forms.IntegerField(label=gettext_lazy("Fires at most this many times"), required=False)
    jitter = forms.IntegerField(label=gettext_lazy("Spread over this many seconds"), required=False)
    catch_up = forms.ChoiceField(
        label=gettext_lazy("Missed firings"), choices=[(str(one), str(one)) for one in CatchUp]
    )
    catch_up_window = forms.IntegerField(label=gettext_lazy("Made up for within this many seconds"), required=False)
    catch_up_most = forms.IntegerField(label=gettext_lazy("Made up for at most this many"), required=False)
    parents = NamesField(label=gettext_lazy("Names of the jobs that it waits for, one a line"), required=False)
    when = forms.ChoiceField(
        label=gettext_lazy("It runs when"), required=False, choices=[(str(k), v) for k, v in _WHEN_WORDS.items()]
    )
    if_parent_fails = forms.ChoiceField(
        label=gettext_lazy("If one fails that should have succeeded"),
        required=False,
        choices=[(str(k), v) for k, v in _FAILS_WORDS.items()],
    )
    overlap = forms.ChoiceField(label=gettext_lazy("Then"), choices=[(str(k), v) for k, v in OVERLAP_WORDS.items()])
    reason = reason_field()
    operation = forms.UUIDField(widget=forms.HiddenInput)
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        job: JobDefinition | None = None,
        jitter: int | None = None,
        like: JobDefinition | None = None,
        **kwargs: Any,
    ) -> None:
        """`like`: a new one begins as this one is."""
        offered = {} if jitter is None else {"jitter": jitter}
        if like is not None:
            name = gettext("{name}, a copy").format(name=like.name)[:NAME_LENGTH]
            offered |= _initial(like) | {"name": name, "tenant": like.tenant, "revision": None}
        super().__init__(*args, initial=_initial(job) | offered, **kwargs)
        self.fields["task_type"].widget.attrs |= {"list": "task-types", "autocomplete": "off"}
        self.fields["timezone"].widget.attrs |= {"list": "time-zones", "autocomplete": "off"}
        self.fields["calendar"].widget.attrs |= {"list": "calendars", "autocomplete": "off"}
        self._tenant = job.tenant if job else DEFAULT_TENANT
        self.fields["reason"].required = not self.previews
        if job is not None:
            del self.fields["tenant"]  # a job stays where it is

    @property
    def previews(self) -> bool:
        """Whether somebody wants to see the times, and not to save anything."""
        return "preview" in self.data

    @property
    def request(self) -> JobRequest:
        return JobRequest(**self._values(_DEFAULTS.keys() | {"name", "task_type"}))

    @property
    def draft(self) -> JobRequest:
        """As far as it is filled in, and makes sense."""
        given = self._values(name for name in (*_DEFAULTS, "name", "task_type") if name in self.cleaned_data)
        return JobRequest(**given | {name: given.get(name) or "" for name in ("name", "task_type")})

    @property
    def found_wrong(self) -> list[FieldError]:
        """What the fields themselves refuse."""
        self.is_valid()
        return [
            FieldError(name, " ".join(words))
            for name, words in self.errors.items()
            if name not in ("reason", "operation", "revision") and self.data.get(name)
        ]

    @property
    def changes(self) -> dict[str, Any]:
        """What differs from the job that the form was made of."""
        return self._values(name for name in self.changed_data if name in _DEFAULTS or name in ("name", "task_type"))

    def blame(self, error: PunctualError) -> None:
        """Tell what is wrong, beside the field that the error names."""
        self.add_error(field_of(error, {field.name for field in self.visible_fields()}), str(error))

    def _values(self, names: Iterable[str]) -> dict[str, Any]:
        given = {name: self.cleaned_data[name] for name in names}
        return {name: _DEFAULTS.get(name) if _is_empty(name, value) else value for name, value in given.items()}

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields as the page shows them, under their headings."""
        return [(words, [self[name] for name in names if name in self.fields]) for words, names in _GROUPS]

    @property
    def types(self) -> list[str]:
        return sorted(handler.name for handler in REGISTRY)

    @property
    def zones(self) -> list[str]:
        return sorted(known_zones())

    @property
    def calendars(self) -> list[str]:
        """Those to choose from, a reasonable number."""
        return list(Calendar.objects.filter(tenant=self._tenant).order_by("name").values_list("name", flat=True)[:200])


def _is_empty(name: str, value: object) -> bool:
    """A payload may be any JSON, also one that says little: whether it can be one is for its type to say."""
    return value is None or (name != "payload" and value in ("", []))


def _payload(job: JobDefinition) -> str:
    return json.dumps(as_request(job).payload, indent=2, ensure_ascii=False)


def _initial(job: JobDefinition | None) -> dict[str, Any]:
    if job is None:
        shown = {name: value for name, value in _DEFAULTS.items() if value}
        return shown | {"operation": uuid4(), "jitter": 0}
    request = as_request(job)
    shown = {name: getattr(request, name) for name in ("name", "task_type", *_DEFAULTS)}
    for name in ("at", "start_at", "end_at"):
        # As the field shows it: else it would differ from itself.
        shown[name] = shown[name] and shown[name].replace(microsecond=0)
    shown["payload"] = _payload(job)
    shown["parents"] = "\n".join(request.parents)
    shown["backoff"] = ", ".join(map(_as_typed, request.backoff or ()))
    return shown | {"every": request.every or None, "operation": uuid4(), "revision": job.revision}


def _as_typed(seconds: float) -> str:
    """All its digits, and neither an exponent nor a comma, which would end it."""
    return f"{Decimal(str(seconds)).normalize():f}"


class JobOrderForm(forms.Form):
    """Pause, resume, trigger or delete one job, and why."""

    until = _utc(gettext_lazy("Resumes by itself at"))
    on_resume = forms.ChoiceField(
        label=gettext_lazy("Then"), required=False, choices=[(str(k), v) for k, v in _RESUME_WORDS.items()]
    )
    payload = JsonField(label=gettext_lazy("Payload (JSON); empty: the job's own"), required=False)
    overlap = forms.ChoiceField(
        label=gettext_lazy("If another instance is under way"),
        required=False,
        choices=[("", gettext_lazy("As the job says")), *((str(k), v) for k, v in OVERLAP_WORDS.items())],
    )
    reason = reason_field()
    operation = forms.UUIDField(widget=forms.HiddenInput)

    ASKED = {
        "pause": ("until", "on_resume"),
        "resume": ("on_resume",),
        "trigger": ("payload", "overlap"),
        "delete": (),
    }

    def __init__(self, verb: str, job: JobDefinition, *args: Any, **kwargs: Any) -> None:
        shown = {"operation": uuid4(), "on_resume": job.on_resume, "payload": _payload(job)}
        super().__init__(*args, initial=shown, **kwargs)
        for name in {"until", "on_resume", "payload", "overlap"} - set(self.ASKED[verb]):
            del self.fields[name]


class JobsOrderForm(forms.Form):
    """Pause, resume or trigger some jobs, and why."""

    reason = reason_field()
    ids = forms.CharField(widget=forms.HiddenInput)
    verb = forms.CharField(widget=forms.HiddenInput)
    confirmed = forms.BooleanField(widget=forms.HiddenInput)  # the page before this one has shown which they are
    operation = forms.UUIDField(widget=forms.HiddenInput)


class FiringForm(forms.Form):
    """Skip, move or restore one firing of a job, and why."""

    to = _utc(gettext_lazy("Runs at"))
    reason = reason_field()
    operation = forms.UUIDField(widget=forms.HiddenInput)
    fire_time = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, verb: str, fire_time: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, initial={"operation": uuid4(), "fire_time": fire_time}, **kwargs)
        if verb == "move":
            self.fields["to"].required = True
        else:
            del self.fields["to"]

    def clean_fire_time(self) -> datetime:
        try:
            at = datetime.fromisoformat(self.cleaned_data["fire_time"])
        except ValueError:
            at = None
        if at is None or at.utcoffset() is None:
            raise forms.ValidationError(gettext("This is not the time of a firing; choose one on the page of the job."))
        return at


class BackfillForm(forms.Form):
    """Which firings of a job, and of others with it, at what pace; and why, which is needed to begin it."""

    WHICH = {
        Which.MISSING: gettext_lazy("Firings without an instance"),
        Which.FAILED: gettext_lazy("Firings whose instance is dead: it is replayed"),
        Which.ALL: gettext_lazy("All firings, once more: each gets a second instance"),
    }

    since = UtcField(label=gettext_lazy("From (UTC)"))
    until = UtcField(label=gettext_lazy("To (UTC; empty: now)"), required=False)
    which = forms.ChoiceField(label=gettext_lazy("Run"), choices=[(str(one), words) for one, words in WHICH.items()])
    order = forms.ChoiceField(
        label=gettext_lazy("Order"),
        choices=[("oldest", gettext_lazy("Oldest first")), ("newest", gettext_lazy("Newest first"))],
    )
    others = forms.CharField(label=gettext_lazy("Numbers of other jobs, with commas"), required=False, max_length=2000)
    company = forms.ChoiceField(
        label=gettext_lazy("Jobs that come after it"),
        required=False,
        choices=[("", gettext_lazy("Come along, and wait for it")), ("alone", gettext_lazy("Stay out of it"))],
    )
    rate = rate_field()
    most_running = most_running_field()
    lane = lane_field()
    cap = cap_field()
    reason = forms.CharField(
        label=gettext_lazy("Reason"), required=False, max_length=REASON_LENGTH, widget=forms.Textarea(attrs={"rows": 2})
    )
    operation = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, job: JobDefinition, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, initial={"operation": uuid4(), "cap": CAP}, **kwargs)
        self.job = job
        if not job.has_children:
            del self.fields["company"]

    @property
    def selection(self) -> str:
        """Which firings, as they were typed in."""
        return "|".join(self.data.get(name, "") for name in ("since", "until", "which", "order", "others", "company"))

    @property
    def begins(self) -> bool:
        """The dry run that the page has shown was for the same firings; else there is another first."""
        return "begin" in self.data and self.data.get("seen") == self.selection

    @property
    def request(self) -> BackfillRequest:
        given = self.cleaned_data
        return BackfillRequest(
            [self.job.id, *given["others"]],
            given["since"],
            given["until"],
            given["which"],
            given["order"] == "newest",
            self.job.tenant,
            not given.get("company"),
        )

    @property
    def pace(self) -> Pace:
        return pace_of(self.cleaned_data)

    def clean_others(self) -> list[int]:
        words = [word.strip() for word in self.cleaned_data["others"].split(",") if word.strip()]
        wrong = [word for word in words if not re.fullmatch("[1-9][0-9]{0,17}", word)]
        if wrong:
            raise forms.ValidationError(
                gettext("{wrong!r} is not the number of a job; write them like 12, 13.").format(wrong=wrong[0][:40])
            )
        return [int(word) for word in words]

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"].strip()
        if self.begins and not reason:
            raise forms.ValidationError(gettext("Say briefly why, for whoever reads it later."))
        return reason

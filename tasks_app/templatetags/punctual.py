"""How the operator's pages write times, states and errors. Everything is escaped; times are in UTC and say so."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import template
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from tasks_app.core.campaigns import CampaignState
from tasks_app.core.graphs import RunState
from tasks_app.core.imports import when_called
from tasks_app.core.jobs import JobStatus
from tasks_app.core.phrases import exact_percent, first_line, for_outsiders
from tasks_app.core.states import Status
from tasks_app.models import Campaign, ScheduleTask, Subscription
from tasks_app.models.schedule_task import TaskFields
from tasks_app.pages.links import console_url
from tasks_app.pages.said import in_language
from tasks_app.pages.spans import milliseconds, span

if TYPE_CHECKING:
    from tasks_app.console.heading import Step
    from tasks_app.core.rules import Reason
    from tasks_app.engine.watch.campaign_browse import CampaignView
    from tasks_app.engine.watch.job_browse import Run
    from tasks_app.engine.watch.job_history import Instance
    from tasks_app.engine.watch.verdict.problem import Problem
    from tasks_app.lifecycle.view import TaskInfo

register = template.Library()

# Django imports the tags of all apps with the first template of a process, whatever that is about.
error_of = when_called("tasks_app.lifecycle.tries:error_of")
list_of: Callable[..., str] = when_called("tasks_app.console.heading:list_of")
member = when_called("tasks_app.console.scope:member")
shared_filters = when_called("tasks_app.console.looks:saved_filters")
steps: "Callable[..., list[Step]]" = when_called("tasks_app.console.heading:steps")
worker_of = when_called("tasks_app.engine.nodes:worker_of")

HELD = "HELD"  # a campaign that runs, and that a safeguard or a recovery holds
# Which colour a state has.
LABELS = {
    Status.SUCCESS: "success",
    Status.FAIL: "warning",
    Status.DEAD: "danger",
    Status.RUNNING: "info",
    Status.AWAY: "info",
    Status.INIT: "primary",
    JobStatus.ACTIVE: "success",
    JobStatus.PAUSED: "warning",  # a campaign that is paused, too
    CampaignState.DONE: "success",
    HELD: "warning",
    Subscription.SUSPENDED: "danger",
    RunState.SUCCEEDED: "success",
    RunState.RUNNING: "info",
    RunState.WAITING: "primary",
    RunState.STUCK: "danger",
    RunState.FAILED: "danger",
}
# What became of a run, in a word.
RUN_WORDS: dict[str, Promise] = {
    Status.SUCCESS: gettext_lazy("succeeded"),
    Status.FAIL: gettext_lazy("failed, to be tried again"),
    Status.DEAD: gettext_lazy("gave up"),
    Status.CANCELLED: gettext_lazy("cancelled"),
    Status.RUNNING: gettext_lazy("running"),
    Status.AWAY: gettext_lazy("away"),
    Status.INIT: gettext_lazy("waiting"),
    Status.BLOCKED: gettext_lazy("waiting"),
}
# Where one sees more of what a rule of the verdict has found, and does something about it.
FLEET = ("punctual_node_changelist", gettext_lazy("Fleet"))
QUARANTINE = ("punctual_installation_changelist", gettext_lazy("Quarantine"))
JOBS = ("punctual_jobdefinition_changelist", gettext_lazy("Jobs"))
AUDIT = ("punctual_auditentry_changelist", gettext_lazy("Audit entries"))
SUBSCRIPTIONS = ("punctual_subscription_changelist", gettext_lazy("Subscriptions"))
DUE = ("punctual_scheduletask_changelist", gettext_lazy("Due tasks"))
PAGES = {
    **dict.fromkeys(("in_quarantine", "overdue_held"), QUARANTINE),
    **dict.fromkeys(("no_dispatcher", "no_worker", "silent_broker", "broken_queue", "lane_without_worker"), FLEET),
    **dict.fromkeys(("canary_not_back", "canary_never_flew", "paused_with_due", "lost_and_not_reaped"), FLEET),
    **dict.fromkeys(("shards_without_dispatcher", "unknown_shards", "unknown_limits"), FLEET),
    **dict.fromkeys(("chores_fail", "chores_wait", "chores_never_end", "moving_behind", "partitions_behind"), FLEET),
    **dict.fromkeys(("items_skipped", "beats_stalled"), FLEET),
    **dict.fromkeys(("planning_behind", "turns_behind"), JOBS),
    **dict.fromkeys(("overdue", "started_late"), DUE),
    **dict.fromkeys(("audit_unchained", "audit_entries_missing", "audit_trail_broken", "audit_not_anchored"), AUDIT),
    **dict.fromkeys(
        ("subscription_suspended", "subscription_failing", "subscription_behind", "events_missed"), SUBSCRIPTIONS
    ),
    "keys_out_of_reach": ("punctual_tenant_changelist", gettext_lazy("Tenants")),
    "keys_not_rotated": ("punctual_tenant_changelist", gettext_lazy("Tenants")),
    "recovery_holds": ("punctual_recovery_changelist", gettext_lazy("Recoveries")),
    **dict.fromkeys(("campaigns_stuck", "campaigns_wait"), ("punctual_campaign_changelist", gettext_lazy("Campaigns"))),
    "alarms_not_told": ("punctual_alarmchannel_changelist", gettext_lazy("Alarm channels")),
    "hosts_unwell": ("punctual_host_changelist", gettext_lazy("Hosts")),
    "safeguards_act": ("punctual_safeguard_changelist", gettext_lazy("Safeguards")),
    "dead_tasks": ("punctual_dlqentry_changelist", gettext_lazy("Dead letters")),
}
# What only a command shows, which its sentence names.
WITHOUT_PAGE = {"vacuum_held_back", "archive_waits", "backup_behind", "no_base"}


@register.filter
def instant(value: datetime | None) -> SafeString:
    """A moment: to the second in UTC, to the microsecond for machines, and how far off it is when one points at it."""
    return "–" if value is None else _time(value, away(value))


@register.filter
def instant_and_away(value: datetime) -> SafeString:
    """The same, with how far off it is beside it."""
    hint = away(value)
    return format_html("{} <small>{}</small>", _time(value, hint), hint)


def _time(value: datetime, hint: str) -> SafeString:
    utc = value.astimezone(UTC)
    return format_html('<time datetime="{}" title="{}">{}</time>', utc.isoformat(), hint, f"{utc:%Y-%m-%d %H:%M:%S}")


@register.filter
def clock(value: datetime) -> SafeString:
    """A moment among others of one run: to the millisecond in UTC, with its day for machines and when one points."""
    utc = value.astimezone(UTC)
    shown = f"{utc:%H:%M:%S}.{utc.microsecond // 1000:03}"
    return format_html('<time datetime="{}" title="{}">{}</time>', utc.isoformat(), f"{utc:%Y-%m-%d}", shown)


@register.filter
def away(value: datetime | None) -> str:
    """How far off a moment is, from now."""
    if value is None:
        return ""
    wait = value - timezone.now()
    return _away(wait)


def _away(wait: timedelta) -> str:
    words = gettext("in {time}") if wait > timedelta(0) else gettext("{time} ago")
    return words.format(time=span(wait))


@register.filter
def duration(value: timedelta | None) -> str:
    return "–" if value is None else ("−" if value < timedelta(0) else "") + span(value)


@register.filter
def on_worker(slot: str | None, at: datetime | None = None) -> str | SafeString:
    """Who ran something, with the way to that worker's page as it was then; of no tenant, so members get none."""
    if not slot:
        return gettext("no worker")
    if member() is not None:
        return slot
    url = console_url("punctual_worker", worker_of(slot))
    then = "" if at is None else f"?{urlencode({'until': at.astimezone(UTC).isoformat()})}"
    return format_html('<a href="{}{}">{}</a>', url, then, slot)


@register.filter
def known_as(task: TaskFields) -> SafeString:
    """An instance by its job and firing, if `with_names` has found its name; any other task by its key."""
    name = getattr(task, "job_name", None)
    if name is None or task.fire_time is None:
        return format_html("<bdi>{}</bdi>", task.biz_key)
    how = gettext("by hand") if task.manual else gettext("once more") if task.again else ""
    return format_html(
        '<span title="{}"><bdi>{}</bdi>, {}{}</span>',
        task.biz_key,
        name,
        instant(task.fire_time),
        format_html(" <small>{}</small>", how) if how else "",
    )


@register.filter
def ms(value: float | None) -> str:
    return "–" if value is None else milliseconds(value)


@register.filter
def number(value: int) -> str:
    return f"{value:,}"


@register.filter
def state(status: str) -> SafeString:
    """A state as a label. Made here, since including a template for each of hundreds of rows takes longer."""
    return format_html('<span class="pu-state pu-is-{}">{}</span>', LABELS.get(status, "plain"), status)


@register.filter
def task_state(task: "TaskFields | TaskInfo") -> SafeString:
    """The state of a task of `with_tries` or `with_queued`."""
    from tasks_app.lifecycle.view import TaskInfo

    queued = _is_queued(task) if isinstance(task, TaskInfo) else task.queued
    if queued:
        return format_html('<span class="pu-state pu-is-{}">{}</span>', LABELS[Status.INIT], gettext("Queued"))
    return state(task.status)


def _is_queued(task: "TaskInfo") -> bool:
    return task.status == Status.RUNNING and task.claimed_at is not None and task.start_time is None


@register.filter
def campaign_state(campaign: "Campaign | CampaignView") -> SafeString:
    return state(HELD if campaign.hold else campaign.state)


@register.filter
def tone(status: str) -> str:
    """The colour of a state, where it is no label."""
    return LABELS.get(status, "plain")


@register.filter
def failure(task: ScheduleTask) -> SafeString:
    """The error of a row; that of a try before the one under way, or before a new start, is said to be so."""
    before = (
        format_html("<small>{}</small> ", gettext("previous try:"))
        if task.error_code and not error_of(task).code
        else ""
    )
    return format_html("{}<bdi>{}</bdi>", before, task.error_code)


@register.filter
def runs_bar(runs: "Sequence[Run] | None") -> str | SafeString:
    """The latest runs of a job as a row of small bars, the oldest first; in words for those who can't see it."""
    if not runs:
        return "–"
    counts = Counter(str(RUN_WORDS[one.status]) for one in runs)
    words = ", ".join(f"{count} {word}" for word, count in counts.items())
    bars = format_html_join(
        "",
        '<i class="pu-is-{}" title="{} UTC: {}"></i>',
        (
            (
                LABELS.get(one.status, "plain"),
                f"{one.fire_time.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
                RUN_WORDS[one.status],
            )
            for one in runs
        ),
    )
    title = ngettext("The last run: {words}", "The last {count} runs: {words}", len(runs))
    title = title.format(count=len(runs), words=words)
    return format_html('<span class="pu-runs" role="img" aria-label="{}">{}</span>', title, bars)


@register.filter
def instance_words(one: "Instance") -> str:
    """What became of an instance, in a line."""
    words = f"{one.fire_time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC: {RUN_WORDS[one.status]}"
    return words if one.took is None else f"{words}, {span(one.took)}"


@register.filter
def outcome_words(outcomes: Mapping[str, int]) -> str:
    """How many had which outcome, the most frequent first."""
    found: Counter[str] = Counter()
    for status, count in outcomes.items():
        found[str(RUN_WORDS[status])] += count
    return ", ".join(f"{count:,} {words}" for words, count in found.most_common())


@register.filter
def problem(found: "Problem") -> str:
    """What is wrong, and the way out, in the language of the page. What some program said stays as it was."""
    return in_language(found.sentence, found.detail, found.way_out)


@register.filter
def page_of(rule: str) -> tuple[str, str] | None:
    """The address and the name of the page about it; None: there is none."""
    if rule not in PAGES:
        return None
    name, words = PAGES[rule]
    return console_url(name) + ("?state=DUE" if PAGES[rule] is DUE else ""), words


@register.filter
def headline(text: str) -> str:
    """The first line of an error."""
    return first_line(told(text))


@register.filter
def stack(text: str) -> str:
    """The rest of an error, which is its stack."""
    return str(told(text)).strip().partition("\n")[2].strip("\n")


@register.filter
def told(error: str) -> str:
    """Somebody who works in one tenant hears what a handler said, not where it runs; the API tells the same."""
    return error if member() is None else for_outsiders(error)


@register.filter
def spoken(words: str) -> str:
    """A sentence of the engine in the language of the page."""
    return in_language(words)


@register.filter
def sentence(why: "Reason") -> str:
    """Why something is not running; without what concerns others, for somebody who works in one tenant."""
    return in_language(why.words) if member() is None else for_outsiders(in_language(why.outside or why.words))


@register.filter
def named(names: dict[int, str], number: int) -> str:
    """By its name, or its number if it has gone."""
    return names.get(number, str(number))


@register.filter
def changes(detail: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What an edit has changed: field, before, after."""
    before, after = detail.get("before") or {}, detail.get("after") or {}
    if not before or not after:
        return []
    return [
        (name, _brief(before.get(name)), _brief(value))
        for name, value in after.items()
        if name != "revision" and before.get(name) != value
    ]


def _brief(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"


@register.filter
def seconds(value: float | None) -> str:
    return "–" if value is None else span(timedelta(seconds=value))


@register.filter
def percent(share: float) -> str:
    return f"{share:.1%}"


@register.filter
def share(value: float | None) -> str:
    """Of a service level, where a thousandth of a per cent counts."""
    return "–" if value is None else exact_percent(value)


@register.filter
def kept(value: bool | None, measured: float | None) -> str | SafeString:
    """Whether a goal is."""
    if value is None:
        return "–" if measured is None else gettext("too little measured to judge")
    return gettext("yes") if value else format_html("<strong>{}</strong>", gettext("no"))


@register.filter
def pretty(value: object) -> str:
    """A payload, to be read by people."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.simple_tag(takes_context=True)
def saved_filters(context: template.Context, page: str) -> SafeString:
    """Above a list of `tasks_app.pages.saved`."""
    return shared_filters(context["request"], page)


@register.simple_tag(takes_context=True)
def heading(context: template.Context) -> "list[Step]":
    return steps(context.flatten())


@register.simple_tag(takes_context=True)
def list_name(context: template.Context) -> str:
    return list_of(context.flatten())

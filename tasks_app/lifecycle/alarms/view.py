"""Incidents and rules as people read them."""

from datetime import timedelta

from tasks_app.core.alarms import WORDS, AlertKind, Condition, Facts, title
from tasks_app.core.phrases import span
from tasks_app.models import AlarmIncident, AlarmRule


def title_of(one: AlarmIncident) -> str:
    """As an alert about it would begin."""
    facts = Facts(
        condition=Condition(one.condition),
        cause=one.cause,
        task_type=one.task_type,
        count=one.count,
        new=0,
        opened_at=one.opened_at,
        seen_at=one.seen_at,
        seconds=one.seconds,
        sample=one.sample,
    )
    return title(AlertKind.OPENED, facts)


def conditions_of(rule: AlarmRule) -> list[str]:
    """What it is about, each in words."""
    limits = {Condition.LATE: rule.late_seconds, Condition.RUNNING: rule.running_seconds}
    return [
        WORDS[one] if limits.get(one) is None else f"{WORDS[one]}: more than {span(timedelta(seconds=limits[one]))}"
        for one in map(Condition, rule.conditions)
    ]


def about(rule: AlarmRule) -> str:
    """Whose tasks, of which types or job."""
    if rule.job is not None:
        return f"job {rule.job}"
    return ", ".join(rule.task_types) if rule.task_types else "all types"

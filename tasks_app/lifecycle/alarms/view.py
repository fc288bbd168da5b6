"""Incidents and rules as people read them."""

from datetime import timedelta

from tasks_app.core.alarms import WORDS, AlertKind, Condition, Facts, title
from tasks_app.core.said import Said, said
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


def conditions_of(rule: AlarmRule) -> list[Said]:
    """What it is about, each in words."""
    limits = {Condition.LATE: rule.late_seconds, Condition.RUNNING: rule.running_seconds}

    def told(one: Condition) -> Said:
        words, limit = said(WORDS[one]), limits.get(one)
        if limit is None:
            return words
        return said("{condition}: more than {time}", condition=words, time=timedelta(seconds=limit))

    return [told(one) for one in map(Condition, rule.conditions)]


def about(rule: AlarmRule) -> str:
    """Whose tasks, of which types or job."""
    if rule.job is not None:
        return said("job {id}", id=rule.job)
    return ", ".join(rule.task_types) if rule.task_types else said("all types")

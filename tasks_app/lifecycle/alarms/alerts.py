"""Alerts: what each channel of a rule is to be told. Put into words when that is decided: every try says the same."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from django.utils import timezone

from tasks_app.conf import conf
from tasks_app.core.alarms import AlertKind, digest_title, sentences, title
from tasks_app.models import AlarmChannel, AlarmRule
from tasks_app.sql import array, run

if TYPE_CHECKING:
    from .incidents import Open

TOGETHER = 20  # alerts that a digest names; of the others it says how many


def write_alerts(kind: AlertKind, incidents: Sequence["Open"]) -> int:
    """One for each channel of each incident's rule; returns how many."""
    rules = {rule.id: rule for rule in AlarmRule.objects.filter(id__in={one.rule for one in incidents})}
    wanted = {channel for rule in rules.values() for channel in rule.channels}
    usable = set(AlarmChannel.objects.filter(id__in=wanted, enabled=True).values_list("id", flat=True))
    rows = [
        (channel, one.id, json.dumps(body(kind, one, rule)))
        for one in incidents
        if (rule := rules.get(one.rule)) is not None
        for channel in rule.channels
        if channel in usable
    ]
    if rows:
        run(
            "write_alerts",
            {
                "ids": [uuid4() for _ in rows],
                "channels": array(channel for channel, _, _ in rows),
                "incidents": array(incident for _, incident, _ in rows),
                "kinds": [str(kind)] * len(rows),
                "bodies": [text for _, _, text in rows],
            },
        )
    return len(rows)


def body(kind: AlertKind, one: "Open", rule: AlarmRule) -> dict[str, Any]:
    """What a program gets; people get its title and its text."""
    facts = one.facts
    link = page_of(one.id)
    lines = [*sentences(kind, facts), *([f"See {link}"] if link else [])]
    if rule.runbook and kind is not AlertKind.WELL:
        lines.append(f"What to do: {rule.runbook}")
    return {
        "type": f"alarm.{kind}",
        "time": timezone.now().isoformat(),
        "tenant": one.tenant,
        "rule": {"id": rule.id, "name": rule.name},
        "incident": {
            "id": one.id,
            "condition": one.condition,
            "cause": one.cause,
            "task_type": one.task_type or None,
            "job": one.job,
            "opened_at": one.opened_at.isoformat(),
            "seen_at": one.seen_at.isoformat(),
            "count": one.count,
            "new": facts.new,
        },
        "title": title(kind, facts),
        "text": "\n".join(lines),
        "link": link or None,
        "runbook": rule.runbook or None,
    }


def test_body(channel: AlarmChannel, by: str) -> dict[str, Any]:
    return {
        "type": f"alarm.{AlertKind.TEST}",
        "time": timezone.now().isoformat(),
        "tenant": channel.tenant,
        "title": "A test of an alarm channel",
        "text": f"{by} is testing the alarm channel {channel.name!r}. Nothing is wrong.",
    }


def digest_body(bodies: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Several alerts as one."""
    flat = [one for body in bodies for one in body.get("alerts", [body])]
    left = sum(body.get("more", 0) for body in bodies) + max(0, len(flat) - TOGETHER)
    shown = flat[:TOGETHER]
    lines = [f"- {one['title']}{' ' + one['link'] if one.get('link') else ''}" for one in shown]
    lines += [f"- and {left:,} more"] if left else []
    return {
        "type": f"alarm.{AlertKind.DIGEST}",
        "time": timezone.now().isoformat(),
        "title": digest_title(len(shown) + left),
        "text": "\n".join(["This channel has had its alerts for now, so these come together:", *lines]),
        "alerts": shown,
        "more": left,
    }


def page_of(incident: int) -> str:
    """Where a person reads more; empty if the installation has not said where its console is."""
    base = conf().CONSOLE_URL
    return f"{base.rstrip('/')}/punctual/alarmincident/{incident}/" if base else ""

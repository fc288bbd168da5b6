"""Incidents: what was seen is counted by rule and cause, told once in a while, and closed when all is well again."""

import json
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q

from tasks_app.core.alarms import (
    PATIENCE_SECONDS,
    SOON_SECONDS,
    WELL_AFTER_SECONDS,
    AlertKind,
    Condition,
    Facts,
    Occurrence,
    stored_sample,
)
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.database import atomic
from tasks_app.lifecycle.stalls import SKIPPED
from tasks_app.models import AlarmIncident, AlarmRule
from tasks_app.sql import array, run

from .alerts import write_alerts

CHORE = "alarm"
MOST_CAUSES = 50  # incidents of one rule that are open at the same time; what else happens to it is one more
MOST_AT_ONCE = 200  # incidents in one transaction
ASK_AGAIN_SECONDS = 60.0
FRESH_SECONDS = 30.0  # what is found by looking is looked for at least twice in this time, as long as it is there
FORGET_SECONDS = 7 * 86_400.0  # it never happened again, and nothing of the kind ran: closed, and nobody is told
CAUSE_LENGTH = 200
LEVELS = [str(one) for one in Condition if one.is_level]
RUNS = [str(Condition.DEAD), str(Condition.LATE)]  # these are well again when something of the kind has succeeded
UNTIL_TOLD = [str(Condition.SUSPENDED)]  # and these when an event says so


class Key(NamedTuple):
    """What makes two occurrences the same incident."""

    rule: int
    condition: str
    task_type: str
    cause: str


class Open(NamedTuple):
    """A row of to_tell, and of to_calm."""

    id: int
    rule: int
    tenant: str | None
    condition: str
    cause: str
    task_type: str
    job: int | None
    count: int  # type: ignore[assignment]  # the name of the column: tuple.count is not needed
    told_count: int
    seconds: float
    sample: dict[str, Any]
    opened_at: datetime
    seen_at: datetime
    told_at: datetime | None
    forgotten: bool = False
    well: bool = False

    @property
    def facts(self) -> Facts:
        return Facts(
            condition=Condition(self.condition),
            cause=self.cause,
            task_type=self.task_type,
            count=self.count,
            new=self.count - self.told_count,
            opened_at=self.opened_at,
            seen_at=self.seen_at,
            seconds=self.seconds,
            sample=self.sample,
        )


@dataclass(frozen=True, slots=True)
class Noted:
    rule: AlarmRule
    seen: Occurrence


def note(occurrences: Iterable[Occurrence]) -> int:
    """Open an incident for each rule and cause, or count it in the one that is open; returns how many were touched.

    Call it in a transaction with whatever says that they were looked at: then each counts once.
    """
    occurrences = list(occurrences)
    if not occurrences:
        return 0
    rules = rules_for({one.tenant for one in occurrences})
    noted: dict[Key, Noted] = {}
    for seen in occurrences:
        for rule in rules:
            # Its patterns are the tenant's; without a tenant they are the operators'.
            with MARKS.on(Kind.TENANT, rule.tenant, CHORE) if rule.tenant else nullcontext():
                count = rule.scope.counted(seen)
            if count:
                _add(noted, Noted(rule, replace(seen, count=count, each=())))
    noted = _bounded(noted)
    if noted:
        run("note_incidents", _columns(noted))
    return len(noted)


def rules_for(tenants: set[str | None]) -> list[AlarmRule]:
    """Those that could be about something of these tenants, without those on which beats hung."""
    wanted = tenants - {None} - SKIPPED.of(Kind.TENANT, CHORE)
    return list(AlarmRule.objects.filter(Q(tenant=None) | Q(tenant__in=wanted), enabled=True).order_by("id"))


def tell_due() -> int:
    """Write the alerts about what has waited long enough, in one transaction; returns about how many incidents."""
    with atomic(savepoint=False):
        asked = {"most": MOST_AT_ONCE, "levels": LEVELS, "fresh": FRESH_SECONDS}
        found = [Open(*row) for row in run("to_tell", asked)]
        for kind in (AlertKind.OPENED, AlertKind.AGAIN):
            write_alerts(kind, [one for one in found if (one.told_at is None) == (kind is AlertKind.OPENED)])
        if found:
            run("mark_told", {"ids": array(one.id for one in found)})
    return len(found)


def calm_due() -> int:
    """Close what is well again, and tell those who had been told; returns how many incidents were looked at."""
    asked = {"most": MOST_AT_ONCE, "forget": FORGET_SECONDS, "runs": RUNS, "untold": UNTIL_TOLD}
    with atomic(savepoint=False):
        found = [Open(*row) for row in run("to_calm", asked)]
        well = [one for one in found if one.well]
        gone = [one for one in found if one.forgotten and not one.well]
        _close(well, AlarmIncident.WELL)
        _close(gone, AlarmIncident.GONE)
        over = {one.id for one in (*well, *gone)}
        if later := [one.id for one in found if one.id not in over]:
            run("ask_later", {"ids": array(later), "seconds": ASK_AGAIN_SECONDS})
        write_alerts(AlertKind.WELL, [one for one in well if one.told_at is not None])
    return len(found)


def well(condition: Condition, cause: str, tenant: str | None) -> int:
    """An event says that this is over."""
    found = AlarmIncident.objects.select_for_update().filter(
        condition=condition, cause=cause[:CAUSE_LENGTH], closed_at__isnull=True
    )
    if tenant is not None:
        found = found.filter(Q(tenant=tenant) | Q(tenant=None, sample__tenant=tenant))
    columns = [name for name in Open._fields if name not in ("forgotten", "well")]
    rows = [Open(**row) for row in found.values(*columns)[:MOST_AT_ONCE]]
    _close(rows, AlarmIncident.WELL)
    write_alerts(AlertKind.WELL, [one for one in rows if one.told_at is not None])
    return len(rows)


def _close(found: Sequence[Open], outcome: str) -> None:
    if found:
        run("close_incidents", {"ids": array(one.id for one in found), "outcome": outcome})


def _add(noted: dict[Key, Noted], one: Noted) -> None:
    task_type, cause = one.seen.group
    key = Key(one.rule.id, str(one.seen.condition), task_type, cause[:CAUSE_LENGTH])
    noted[key] = Noted(one.rule, noted[key].seen.plus(one.seen)) if key in noted else one


def _bounded(noted: dict[Key, Noted]) -> dict[Key, Noted]:
    """With no more open incidents for each rule than MOST_CAUSES, and one for all others of a condition."""
    rules = {key.rule for key in noted}
    open_now = set(
        AlarmIncident.objects.filter(rule__in=rules, closed_at__isnull=True).values_list(
            "rule", "condition", "task_type", "cause"
        )
    )
    room = {rule: MOST_CAUSES - sum(key[0] == rule for key in open_now) for rule in rules}
    kept: dict[Key, Noted] = {}
    for key, one in noted.items():
        if tuple(key) not in open_now:
            room[key.rule] -= 1
            if room[key.rule] < 0:
                one = Noted(one.rule, replace(one.seen, task_type="", cause=""))
        _add(kept, one)
    return kept


def _columns(noted: dict[Key, Noted]) -> dict[str, Any]:
    rows = [(key, one.rule, one.seen) for key, one in noted.items()]
    return {
        "rules": array(key.rule for key, _, _ in rows),
        "tenants": [rule.tenant for _, rule, _ in rows],
        "conditions": [key.condition for key, _, _ in rows],
        "causes": [key.cause for key, _, _ in rows],
        "types": [key.task_type for key, _, _ in rows],
        "jobs": [rule.job for _, rule, _ in rows],
        "counts": array(seen.count for _, _, seen in rows),
        "seconds": [float(seen.seconds) for _, _, seen in rows],
        "samples": [json.dumps(stored_sample(seen.sample)) for _, _, seen in rows],
        "quiets": [_quiet(rule, seen.condition) for _, rule, seen in rows],
        "soons": [PATIENCE_SECONDS if seen.condition is Condition.TROUBLE else SOON_SECONDS for _, _, seen in rows],
        "levels": LEVELS,
    }


def _quiet(rule: AlarmRule, condition: Condition) -> float:
    return WELL_AFTER_SECONDS if condition.is_level else float(rule.quiet_seconds)

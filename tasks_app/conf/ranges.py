"""What a number among the knobs may be: by its unit, or in a range of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from tasks_app.core.errors import shown
from tasks_app.core.phrases import figure
from tasks_app.core.sharding import MOST_SHARDS

if TYPE_CHECKING:
    from .knobs import Conf


@dataclass(frozen=True, slots=True)
class Range:
    """What a knob may be, both ends included."""

    least: float
    most: float
    or_zero: bool = False  # which turns it off

    def allows(self, value: float) -> bool:
        return self.least <= value <= self.most or (self.or_zero and value == 0)


def range_of(name: str) -> Range:
    """By its unit, unless it has one of its own."""
    return _RANGES.get(name) or next(range_ for unit, range_ in _RANGES_BY_UNIT.items() if name.endswith(unit))


# An interval of PostgreSQL has microseconds, and a wait in select() ends after 24 days.
_RANGES_BY_UNIT = {
    "_SECONDS": Range(0.000_001, 7 * 86_400.0),
    "_MS": Range(0.001, 3_600_000.0),
    "_DAYS": Range(0.000_001, 36_500.0),
    "_HOURS": Range(1 / 60, 744.0),
}
_RANGES = {
    "KEEP_AUDIT_DAYS": Range(180.0, 36_500.0),
    "CANARY_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "STALL_SECONDS": Range(0.5, 3_600.0, or_zero=True),
    "ALARM_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "FAILOVER_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "STANDBY": Range(1, 1, or_zero=True),
    "SITE_TAKEOVER_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "BACKLOG_ASK": Range(1, 1_000_000_000, or_zero=True),
    "SHED_MS": Range(0.001, 3_600_000.0, or_zero=True),
    "SHED_CONNECTIONS": Range(0.01, 1.0),
    "SHED_IN_FLIGHT": Range(1, 1_000_000, or_zero=True),
    "AVAILABILITY_GOAL": Range(0.000_001, 1.0),
    "SUCCESS_GOAL": Range(0.000_001, 1.0),
    "LOOKOUT_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "SAFEGUARD_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "METRICS_SECONDS": Range(0.000_001, 7 * 86_400.0, or_zero=True),
    "METRICS_TYPES": Range(1, 2_000, or_zero=True),
    "METRICS_TENANTS": Range(1, 2_000, or_zero=True),
    "RUN_LEASE_SECONDS": Range(1.0, 7 * 86_400.0),
    "AUDIT_ANCHOR_SECONDS": Range(1.0, 7 * 86_400.0),
    "BACKUP_EVERY_HOURS": Range(1 / 60, 744.0, or_zero=True),
    "BACKUP_MB_A_SECOND": Range(0.1, 1_000.0, or_zero=True),
    "BACKUP_KEEP": Range(1, 10_000),
    "TRACE_SHARE": Range(0.000_001, 1.0, or_zero=True),
    "BATCH_MAX": Range(1, 100_000),
    "BATCH_UNSEEN": Range(1, 100_000),
    "BATCHES_AHEAD": Range(1, 1_000),
    "SHARDS": Range(1, MOST_SHARDS),
    "PAYLOAD_MAX_BYTES": Range(2, 100_000_000),
    "PRUNE_STEP": Range(1, 1_000_000),
    "WEBHOOK_CONNECTIONS": Range(1, 64),
    "CALLBACK_CONNECTIONS": Range(1, 256),
    "HOST_FAILURES": Range(1, 1_000),
    "API_CALLS_PER_MINUTE": Range(1, 1_000_000_000, or_zero=True),
    "API_ADDRESS_CALLS_PER_MINUTE": Range(1, 1_000_000_000, or_zero=True),
}
_REASONS = {
    "KEEP_AUDIT_DAYS": " The database itself refuses to drop what is younger.",
    "SHARDS": " Every look asks each shard; a few times the number of beats is plenty.",
    "SHED_CONNECTIONS": " It is a share, such as 0.95 for 95 %.",
    "AVAILABILITY_GOAL": " It is a share, such as 0.999 for 99.9 %.",
    "SUCCESS_GOAL": " It is a share, such as 0.995 for 99.5 %.",
    "RUN_LEASE_SECONDS": " A worker ends itself when its own watchdog has heard nothing for that long.",
    "PAYLOAD_MAX_BYTES": " The empty payload, {}, has 2.",
}


def out_of_range(conf: "Conf") -> Iterator[str]:
    for knob in fields(conf):
        if knob.type not in (int, float):
            continue
        value, allowed = getattr(conf, knob.name), range_of(knob.name)
        if allowed.allows(value):
            continue
        if value > allowed.most:
            rule = f"at most {figure(allowed.most)}"
        else:
            rule = "more than 0" if not value > 0 else f"{figure(allowed.least)} or more"
        yield f'PUNCTUAL["{knob.name}"] is {shown(value)}; it must be {rule}.{_REASONS.get(knob.name, "")}'

"""What a look at the audit trail has found, and what it looked at."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

LONGEST = timedelta(hours=1)  # that a transaction may have taken from its entry to its commit, or a clock be set back

CHANGED, REMOVED, ADDED, REORDERED, ANCHOR = "changed", "removed", "added", "reordered", "anchor"


class Finding(NamedTuple):
    kind: str
    tenant: str | None  # None: not of one trail
    place: int | None
    entry: int | None
    sentence: str


@dataclass
class Report:
    """What was looked at; complete when the last finding has been taken."""

    trails: int = 0
    entries: int = 0
    waiting: int = 0  # that have no place yet: committed a moment ago
    anchors: int = 0
    anchored_at: str | None = None  # the time of the last anchor: what came later is proved by the next
    anchors_from: list[str] = field(default_factory=list)  # where they were read; empty: the database's own
    found: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.found


def as_json(finding: Finding) -> str:
    return json.dumps({"finding": finding._asdict()}, ensure_ascii=False)


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)

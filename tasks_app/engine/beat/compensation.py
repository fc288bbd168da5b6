"""The compensation run: every registered scan once, and what it found. The scans are the apps'; none is known here."""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from django.db import DatabaseError, InterfaceError

from tasks_app.core.phrases import first_line
from tasks_app.core.scans import SCANS, Finding, Walked
from tasks_app.database import close_connections

log = logging.getLogger(__name__)


class ScansFailed(Exception):
    """Some scans could not end; why is in the log."""


IDS_SHOWN = 1_000  # of one kind; the count is exact whatever there is


@dataclass
class Kind:
    count: int = 0
    ids: list[str] = field(default_factory=list)


@dataclass
class Report:
    walked: int = 0
    found: dict[tuple[str, Finding, str], Kind] = field(default_factory=dict)  # by scan, finding and kind
    failed: dict[str, str] = field(default_factory=dict)  # scans that could not end, with the reason

    def count(self, finding: Finding) -> int:
        return sum(kind.count for (_, seen, _), kind in self.found.items() if seen is finding)

    @property
    def needs_person(self) -> bool:
        return bool(self.failed) or self.count(Finding.NEEDS_PERSON) > 0


def compensate(
    *, only: Collection[str] = (), dry_run: bool = False, progress: Callable[[str, int], None] | None = None
) -> Report:
    """Run every scan, or these; one that fails does not stop the others."""
    report = Report()
    for name, scan in SCANS:
        if only and name not in only:
            continue
        try:
            for one in scan(dry_run):
                if isinstance(one, Walked):
                    report.walked += one.rows
                    if progress is not None:
                        progress(name, report.walked)
                    continue
                kind = report.found.setdefault((name, one.finding, one.kind), Kind())
                kind.count += 1
                if len(kind.ids) < IDS_SHOWN:
                    kind.ids.append(one.key)
        except Exception as error:
            known = isinstance(error, DatabaseError | InterfaceError)
            log.error("compensation.failed scan=%s error=%r", name, str(error).strip(), exc_info=not known)
            report.failed[name] = str(error).strip() or type(error).__name__
            if known:
                close_connections()
    return report


def compensate_and_tell() -> object:
    """What the beats run: repairs are worth a warning, and so is what needs a person."""
    report = compensate()
    for (scan, finding, kind), found in report.found.items():
        words = "compensation.found scan=%s finding=%r kind=%r count=%d ids=%s"
        log.warning(words, scan, str(finding), kind, found.count, ",".join(found.ids[:20]))
    if report.failed:
        raise ScansFailed("; ".join(f"scan {name}: {first_line(error)}" for name, error in report.failed.items()))
    return report

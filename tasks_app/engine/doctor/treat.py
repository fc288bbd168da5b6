"""treat: what a check found is mended, or it is said what would be; who did it and why goes to the audit trail."""

import logging
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tasks_app.core.errors import InvalidTask
from tasks_app.database import atomic, on_commit
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.models import AnyTask

from .checks import Check
from .examine import Finding, broken_among

CHUNK = 1_000  # rows in one transaction

log = logging.getLogger(__name__)


class Treated(NamedTuple):
    mended: list[int]
    left: list[int]  # these break the rule still: a person has to look


def treat(finding: Finding, operator: Operator, *, dry_run: bool) -> Treated:
    """Mend the rows of a finding, some in each transaction; with `dry_run` all of it is taken back.

    All rows of one unit are in one transaction: which of them is the newest can't be told from a part.
    """
    check = finding.check
    if check.mend is None:
        raise InvalidTask(f"there is no repair for {check.name!r}. {check.remedy}")
    mended: list[int] = []
    left: list[int] = []
    for chunk in _chunks(finding):
        try:
            with atomic():
                done = check.mend(chunk, operator.name)
                still = broken_among(check, chunk)
                if dry_run:
                    raise _TakenBack
                audit(operator, "repair", _entries(check, done))
                on_commit(SENDER.wake_all)
        except _TakenBack:
            pass
        mended, left = mended + done, left + still
    for task in () if dry_run else mended:
        log.warning("doctor.mended check=%s task=%d by=%s", check.name, task, operator.name)
    return Treated(mended, left)


class _TakenBack(Exception):
    """So that nothing of it was done."""


def _chunks(finding: Finding) -> Iterator[Sequence[int]]:
    ids = sorted(set(finding.ids))
    known: dict[int, list[str]] = {}
    for first in range(0, len(ids), CHUNK):
        rows = AnyTask.objects.filter(id__in=ids[first : first + CHUNK])
        known |= {id_: unit for id_, *unit in rows.values_list("id", "tenant", "task_type", "biz_key")}
    units: dict[tuple[object, ...], list[int]] = {}
    for id_ in ids:
        units.setdefault(tuple(known.get(id_, (id_,))), []).append(id_)
    chunk: list[int] = []
    for same in units.values():
        if chunk and len(chunk) + len(same) > CHUNK:
            yield chunk
            chunk = []
        chunk += same
    if chunk:
        yield chunk


def _entries(check: Check, ids: Sequence[int]) -> list[Entry]:
    tasks = {task.id: task for task in AnyTask.objects.filter(id__in=list(ids)).only("id", "tenant", "task_type")}
    detail = {"check": check.name}
    return [
        Entry(f"task {id_}", "mended", id_, detail, task and task.tenant, task and task.task_type)
        for id_ in ids
        for task in [tasks.get(id_)]
    ]

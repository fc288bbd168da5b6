"""Tasks as lists show them: the rows of what `browse` found, and, if asked to, what the archive has after it.

The archive is slower by far, and only searched where somebody says so and gives a key or a time to begin with.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import QuerySet

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask
from tasks_app.lifecycle.tries import with_tries
from tasks_app.models import AnyTask
from tasks_app.scope import all_tenants

from .browse import Bookmark, Filter, Seen, browse

if TYPE_CHECKING:
    from tasks_app.archive.search import ColdFilter

COLD = "cold|"  # how a place in the archive begins, where one in the database has a number
STEP = 1_000  # tasks that a walk reads at a time

# It steps over what is not the caller's by its own bounds, and tells ids and nothing else; read_found is in the scope.
_look = all_tenants()(browse)

Shape = Callable[[QuerySet[AnyTask]], Iterable[AnyTask]]


class ArchiveUnreachable(Exception):
    """The archive can't be reached, or read; the text says why."""


@dataclass(frozen=True, slots=True)
class Listed:
    tasks: list[AnyTask]
    looked_at: int
    next: str | None  # None: there is no more
    cold: bool = False  # these come from the archive


def page_of_tasks(
    wanted: Filter,
    after: str | None = None,
    size: int = 50,
    *,
    cold: bool = False,
    steady: bool = False,
    shaped: Shape = with_tries,
    seconds: float = 0.12,
) -> Listed:
    """One page, with what the tasks' batches know of them unless `shaped` says otherwise."""
    if cold:
        refuse_cold(wanted)
    if cold and after is not None and after.startswith(COLD):
        return _cold_page(wanted, after.removeprefix(COLD), size)
    found = _look(wanted, None if after is None else Bookmark.read(after), size, seconds, steady=steady)
    following = None if found.next is None else str(found.next)
    if following is None and cold and wanted.past is not None:
        following = COLD
    return Listed(read_found(found.tasks, shaped), found.looked_at, following)


def read_found(tasks: Sequence[Seen], shaped: Shape = with_tries) -> list[AnyTask]:
    """Their rows, in the same order, from no more partitions than they lie in; without those that are gone."""
    if not tasks:
        return []
    times = [task.updated_at for task in tasks]
    there = AnyTask.objects.filter(updated_at__range=(min(times), max(times)), id__in=[task.id for task in tasks])
    rows = {row.id: row for row in shaped(there)}
    if written := [task.id for task in tasks if task.id not in rows]:  # since they were found, and so later
        rows |= {row.id: row for row in shaped(AnyTask.objects.filter(updated_at__gte=min(times), id__in=written))}
    return [rows[task.id] for task in tasks if task.id in rows]


def walk_tasks(wanted: Filter, *, cold: bool = False, shaped: Shape = with_tries) -> Iterator[AnyTask]:
    """All that match, one by one: those in the database, then those in the archive. At most STEP are in memory."""
    after: Bookmark | None = None
    while True:
        found = _look(wanted, after, STEP, seconds=1.0, steady=True)
        yield from read_found(found.tasks, shaped)
        after = found.next
        if after is None:
            break
    if cold:
        yield from walk_archive(wanted)


def walk_archive(wanted: Filter) -> Iterator[AnyTask]:
    """All that match in the archive, the newest day first; of a key, not only the last one."""
    past = wanted.past
    if past is None:  # always so where only live tasks can match
        return
    from tasks_app.archive.place import FAULTS, the_archive
    from tasks_app.archive.search import walk

    try:
        for _, row in walk(the_archive(), _cold_filter(wanted, past)):
            if _fits(wanted, task := _thawed(row)):
                yield task
    except FAULTS as error:
        raise ArchiveUnreachable(f"The archive can't be reached, or read: {error}") from None


def units_of_key(wanted: Filter) -> list[Filter]:
    """For the units that have this key, a filter each that finds all their tasks, and not only the last one."""
    found, after, units = None, None, []
    while found is None or after is not None:
        # A time, a state, a lane: of any of its tasks, not of the one that stands for it now.
        found = _look(Filter(tenant=wanted.tenant, task_type=wanted.task_type, key=wanted.key), after, STEP, seconds=5)
        units += [(row.tenant, row.task_type, row.biz_key) for row in read_found(found.tasks, lambda rows: rows)]
        after = found.next
    return [replace(wanted, key=None, unit=unit) for unit in sorted(units)]


def refuse_cold(wanted: Filter) -> None:
    """Raises InvalidTask where there is no archive, or nothing to narrow the search to."""
    if not conf().ARCHIVE_URL:
        raise InvalidTask('There is no archive to search: PUNCTUAL["ARCHIVE_URL"] is empty.')
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        words = "The archive can't be searched: pyarrow is missing. pip install 'django-punctual[archive]'."
        raise InvalidTask(words) from None
    if wanted.key is None and wanted.unit is None and wanted.changed_from is None:
        words = "The archive is searched by a key, or from a time on at which tasks ended: give key or changed_from."
        raise InvalidTask(words)


def _cold_page(wanted: Filter, after: str, size: int) -> Listed:
    from tasks_app.archive.place import FAULTS, the_archive
    from tasks_app.archive.search import ColdBookmark, search

    place = ColdBookmark.read(after) if after else None
    past = wanted.past
    if past is None:
        return Listed([], 0, None, cold=True)
    try:
        found = search(the_archive(), _cold_filter(wanted, past), place, size)
    except FAULTS as error:
        raise ArchiveUnreachable(f"The archive can't be reached, or read: {error}") from None
    tasks = [task for row in found.rows if _fits(wanted, task := _thawed(row))]
    return Listed(tasks, len(found.rows), None if found.next is None else f"{COLD}{found.next}", cold=True)


def _cold_filter(wanted: Filter, past: tuple[datetime, datetime]) -> "ColdFilter":
    from tasks_app.archive.search import ColdFilter

    tenant, task_type, key = wanted.unit or (wanted.tenant, wanted.task_type, wanted.key)
    return ColdFilter(tenant, task_type, key, wanted.job, wanted.state, *past)


def _fits(wanted: Filter, task: AnyTask) -> bool:
    """What the archive can't be asked for."""
    ended = task.finish_time
    return (
        (wanted.tenant in (None, task.tenant))
        and (wanted.task_type in (None, task.task_type))
        and (wanted.types is None or task.task_type in wanted.types)
        and (wanted.lane in (None, task.lane))
        and (wanted.key_prefix is None or task.biz_key.startswith(wanted.key_prefix))
        and (wanted.ran_from is None or (ended is not None and ended >= wanted.ran_from))
        and (wanted.ran_to is None or (ended is not None and ended < wanted.ran_to))
        and (wanted.newest is None or task.id <= wanted.newest)
    )


def _thawed(row: dict[str, object]) -> AnyTask:
    """A row of the archive as one of the database; a column that it is too old to have is empty."""
    task = AnyTask(**{field.attname: row.get(field.attname) for field in AnyTask._meta.fields})
    task.queued = False
    task.batch = task.failed_worker = task.progress = task.away = None  # as with_tries has it
    task.lost_started, task.last_worker = task.start_time, task.worker
    task.cold = True
    return task

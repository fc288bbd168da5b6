"""Set-based looks at the plans of many units, for those who compare them with their own rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from tasks_app.core.lanes import LANES
from tasks_app.core.sharding import SHARD_COUNT
from tasks_app.core.states import Status
from tasks_app.models.schedule_task import DEFAULT_TENANT
from tasks_app.sql import run, text_array


@dataclass(frozen=True, slots=True)
class Difference:
    """A unit whose current task is not what was wanted; without a task_id it has none."""

    key: str
    task_id: int | None
    status: Status | None
    execute_time: datetime | None
    error_code: str
    cancelled_by: str
    live: bool  # it will run, but at another time than was wanted


def differing(
    task_type: str, wanted: Mapping[str, datetime | None], tenant: str = DEFAULT_TENANT
) -> dict[str, Difference]:
    """Those of the units that have no live task, or one for another time (None: any time will do). One statement."""
    if not wanted:
        return {}
    rows = run(
        "differing",
        {"task_type": task_type, "tenant": tenant, "keys": text_array(wanted), "ats": list(wanted.values())},
    )
    return {
        key: Difference(key, task_id, status and Status(status), at, code or "", by or "", live)
        for key, task_id, status, at, code, by, live in rows
    }


def planned_keys(task_type: str, tenant: str = DEFAULT_TENANT, page: int = 5_000) -> Iterator[list[str]]:
    """The keys of all units of a type that wait for their time, page by page."""
    for shard in range(SHARD_COUNT):
        for lane in LANES:
            after = None
            while True:
                given = {"shard": shard, "lane": lane, "after": after, "page": page}
                rows = run("walk_planned", given | {"task_type": task_type, "tenant": tenant})
                if rows:
                    yield [key for key, _ in rows]
                    after = rows[-1][1]
                if len(rows) < page:
                    break

"""Set-based looks at the plans of many units, for those who compare them with their own rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from tasks_app.core.handlers import REGISTRY
from tasks_app.core.states import Status
from tasks_app.sql import run_on, text_array


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
    by_outsider: bool  # it was cancelled by a token of another tenant than its own, which had no business to


_GIVEN = "SELECT * FROM unnest(%(keys)s::text[], %(ats)s::timestamptz[])"


def differing(
    task_type: str, wanted: Mapping[str, datetime | None], *, tenant: str | None = None
) -> dict[str, Difference]:
    """Those of the units that have no live task, or one for another time (None: any time will do). One statement."""
    if not wanted:
        return {}
    params = {"keys": text_array(wanted), "ats": list(wanted.values())}
    return differing_rows(task_type, _GIVEN, params, tenant=tenant)


def differing_rows(
    task_type: str, rows: str, params: Mapping[str, object], *, tenant: str | None = None
) -> dict[str, Difference]:
    """differing for the rows of your own query, which selects a key as text and a time: only what differs travels."""
    found = run_on(
        "differing", rows, {**params, "task_type": task_type, "tenant": REGISTRY.tenant_of(task_type, tenant)}
    )
    return {
        key: Difference(key, task_id, status and Status(status), at, code or "", by or "", live, outsider)
        for key, task_id, status, at, code, by, live, outsider in found
    }


def planned_keys(task_type: str, where: str, *, tenant: str | None = None) -> tuple[int, list[str]]:
    """How many units of a type wait for their time, and the keys of those that are wanted.

    `where` is a condition on `planned.key` in SQL.
    """
    [(count, keys)] = run_on(
        "planned_keys", where, {"task_type": task_type, "tenant": REGISTRY.tenant_of(task_type, tenant)}
    )
    return count, keys


@dataclass(frozen=True, slots=True)
class Compared:
    wanted: int
    unplanned: list[str]  # nothing waits for them; they may be running right now
    unwanted: list[str]  # wait, and are not among the wanted


def compare_keys(task_type: str, rows: str, *, tenant: str | None = None) -> Compared:
    """All keys of your own query, which selects them as text, against all that waits of a type. One statement."""
    [found] = run_on("compare_keys", rows, {"task_type": task_type, "tenant": REGISTRY.tenant_of(task_type, tenant)})
    return Compared(*found)

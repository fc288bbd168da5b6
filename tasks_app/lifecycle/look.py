"""Set-based looks at the tasks of many units, for those who compare them with their own rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import router
from django.db.models import IntegerField, QuerySet

from tasks_app.core.handlers import REGISTRY
from tasks_app.core.states import Status
from tasks_app.database import alias
from tasks_app.libraries.django import database_asked
from tasks_app.sql import rows_of, run_on, text_array


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
    return _differing(*_given(wanted), _of(task_type, tenant))


def differing_rows(
    task_type: str,
    rows: QuerySet,
    *,
    key: str = "pk",
    at: str | None = None,
    tenant: str | None = None,
    most: int | None = None,
) -> dict[str, Difference]:
    """differing for rows of your own, with the fields that have their keys and times: only what differs travels.

    Without `at`, any time will do. The rows may be ordered and sliced. With `most`, it stops at so many.
    """
    if not _beside_us(rows):
        pairs = rows.values_list(key, at) if at else ((one, None) for one in rows.values_list(key, flat=True))
        return _differing(*_given({str(one): when for one, when in pairs}), _of(task_type, tenant), most)
    if at is None:
        wanted = f"SELECT own.key::text, NULL::timestamptz FROM ({rows_of(rows, key)}) AS own(key)"
    else:
        wanted = f"SELECT own.key::text, own.at::timestamptz FROM ({rows_of(rows, key, at)}) AS own(key, at)"
    return _differing(wanted, {}, _of(task_type, tenant), most)


def _given(wanted: Mapping[str, datetime | None]) -> tuple[str, dict[str, object]]:
    return _GIVEN, {"keys": text_array(wanted), "ats": list(wanted.values())}


def _differing(
    wanted: str, given: dict[str, object], unit: dict[str, object], most: int | None = None
) -> dict[str, Difference]:
    params = given | unit | {"most": most}
    return {
        key: Difference(key, task_id, status and Status(status), at, code or "", by or "", live, outsider)
        for key, task_id, status, at, code, by, live, outsider in run_on("differing", wanted, params)
    }


# A number is compared as a number: only so the index of the caller's own rows is of use.
_NUMBER = "CASE WHEN waiting.key ~ '^-?[0-9]{1,18}$' THEN waiting.key::bigint END = own.key"
_TEXT = "waiting.key = own.key::text"


def waiting_keys(
    task_type: str, among: QuerySet, *, key: str = "pk", tenant: str | None = None
) -> tuple[int, list[str]]:
    """How many units of a type wait for their time, and the keys of those that are among rows of your own.

    `key` is the field that has their keys. Looked up row by row, so it needs an index.
    """
    if not _beside_us(among):
        given = _of(task_type, tenant) | {"keys": _keys(among, key)}
        [(count, keys)] = run_on("waiting_keys", "waiting.key = ANY (%(keys)s::text[])", given)
        return count, keys
    field = among.model._meta.pk if key == "pk" else among.model._meta.get_field(key)
    same = _NUMBER if isinstance(field, IntegerField) else _TEXT
    condition = f"EXISTS (SELECT FROM ({rows_of(among, key)}) AS own(key) WHERE {same})"
    [(count, keys)] = run_on("waiting_keys", condition, _of(task_type, tenant))
    return count, keys


@dataclass(frozen=True, slots=True)
class Compared:
    wanted: int
    not_waiting: list[str]  # nothing waits for them; they may be running right now
    unwanted: list[str]  # wait, and are not among the wanted


def compare_keys(task_type: str, rows: QuerySet, *, key: str = "pk", tenant: str | None = None) -> Compared:
    """The keys of all these rows of yours against all that waits of a type. One statement."""
    given = _of(task_type, tenant)
    if _beside_us(rows):
        wanted = f"SELECT own.key::text FROM ({rows_of(rows, key)}) AS own(key)"
    else:
        wanted, given = "SELECT unnest(%(keys)s::text[])", given | {"keys": _keys(rows, key)}
    [found] = run_on("compare_keys", wanted, given)
    return Compared(*found)


def _beside_us(rows: QuerySet) -> bool:
    """Whether these rows are in our own database, so that one statement can look at both. Else their keys travel."""
    database: str = database_asked(rows) or router.db_for_write(rows.model)
    return database == alias()


def _keys(rows: QuerySet, key: str) -> str:
    found = [str(one) for one in rows.values_list(key, flat=True)]
    return text_array(found) if found else "{}"


def _of(task_type: str, tenant: str | None) -> dict[str, object]:
    return {"task_type": task_type, "tenant": REGISTRY.tenant_of(task_type, tenant)}

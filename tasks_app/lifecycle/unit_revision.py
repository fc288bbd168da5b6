"""Changes of a unit's time that carry their sender's own count: an older one than the last applied is superseded."""

from tasks_app.core.errors import InvalidTask, shown
from tasks_app.sql import run

from .request import Unit

LARGEST = 2**63 - 1


def is_newest(unit: Unit, revision: int) -> bool:
    """Note the revision, in the transaction of the change; False if a newer change was applied already."""
    if isinstance(revision, bool) or not isinstance(revision, int) or not 0 <= revision <= LARGEST:
        raise InvalidTask(f"revision={shown(revision)} must be a whole number from 0 to {LARGEST}.")
    tenant, task_type, key = unit
    params = {"tenant": tenant, "task_type": task_type, "key": key, "revision": revision}
    return bool(run("revise_unit", params))

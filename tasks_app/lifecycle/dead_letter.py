"""Dead letters: a task that gave up is replayed, or discarded; and letters get tags."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tasks_app.conf import conf
from tasks_app.core.errors import MOST_TAGS, InvalidTask, checked_tags
from tasks_app.database import atomic
from tasks_app.models import DlqEntry
from tasks_app.sql import array, run

from .audit import Entry, Operator, audit
from .turns import queue_again


@dataclass(frozen=True, slots=True)
class Replayed:
    replayed: list[int]
    superseded: list[int]  # not DEAD any more, or no longer the current row of their unit


def replay(task_ids: Sequence[int], by: str) -> Replayed:
    """Start the dead again with a new budget, as long as nothing newer stands in their place.

    An instance of a job that cares about overlap waits for its turn.
    """
    params = {"ids": list(task_ids), "by": by, "kept": conf().kept_kinds}
    with atomic(savepoint=False):
        rows = run("replay", params)
        queue_again(rows)
    moved = [task_id for task_id, _ in rows]
    return Replayed(moved, [task_id for task_id in task_ids if task_id not in set(moved)])


def discard(task_ids: Sequence[int], reason: str, by: str, tenant: str | None = None) -> list[int]:
    """Give the dead up for good: those that moved are CANCELLED. `tenant`: of the token that it was done through."""
    params = {"ids": array(task_ids), "reason": reason, "by": by, "from": tenant, "kept": conf().kept_kinds}
    return [task_id for (task_id,) in run("discard", params)]


def tag_letters(
    letters: Sequence[int], operator: Operator, *, add: Iterable[str] = (), remove: Iterable[str] = ()
) -> dict[int, list[str]]:
    """Open letters get and lose tags; the answer has the tags that each has now, and nothing of those that are closed.

    InvalidTask, and nothing is written, if one of them would have too many.
    """
    added, removed = checked_tags(add), checked_tags(remove)
    if not added and not removed:
        raise InvalidTask("no tag is given; name those to add, or to remove.")
    params = {"ids": array(letters), "add": list(added), "remove": list(removed), "most": MOST_TAGS}
    with atomic():
        rows = run("tag_letters", params)
        tagged = {id_ for id_, *_ in rows}
        full = DlqEntry.objects.filter(id__in=list(letters), replay_status=DlqEntry.OPEN).exclude(id__in=tagged).first()
        if full is not None:
            raise InvalidTask(f"dead letter {full.id} would have more than {MOST_TAGS} tags. Remove some first.")
        detail = {"added": list(added), "removed": list(removed)}
        entries = [
            Entry(f"dead letter {id_}", "tagged", task_id, detail, tenant, task_type)
            for id_, _, tenant, task_type, task_id in rows
        ]
        audit(operator, "tag", entries)
    return {id_: tags for id_, tags, *_ in rows}

"""What the parents of tasks came to: handed out to those that waited for them, for a whole batch in one statement."""

from collections.abc import Sequence, Set

from tasks_app.core.task import Parents, Task
from tasks_app.sql import array, run, text_array


def hand_out_parents(tasks: Sequence[Task], relinked: Set[int]) -> None:
    """Each of these tasks, whose jobs have parents, or had some, gets what those of its own run came to.

    `relinked`: jobs whose parents were changed. A run that was made before keeps the graph that it was made with.
    """
    changed = [task for task in tasks if task.job in relinked]
    found = _found("parents_in_run", changed) if changed else {}
    found |= _found("parents_of", [task for task in tasks if task.id not in found])
    for task in tasks:
        if task.id in found:
            task.parents = Parents(found[task.id])


def _found(statement: str, tasks: Sequence[Task]) -> dict[int, str]:
    asked = {
        "ids": array(task.id for task in tasks),
        "jobs": array(task.job for task in tasks),
        "labels": text_array(task.key.partition(":")[2] for task in tasks),
    }
    return dict(run(statement, asked))

"""What the parents of tasks came to: handed out to those that waited for them, for a whole batch in one statement."""

from collections.abc import Sequence

from tasks_app.core.task import Parents, Task
from tasks_app.sql import array, run, text_array


def hand_out_parents(tasks: Sequence[Task]) -> None:
    """Each of these tasks, whose jobs have parents, gets what those of its own run came to."""
    asked = {
        "ids": array(task.id for task in tasks),
        "jobs": array(task.job for task in tasks),
        "labels": text_array(task.key.partition(":")[2] for task in tasks),
    }
    found = dict(run("parents_of", asked))
    for task in tasks:
        if task.id in found:
            task.parents = Parents(found[task.id])

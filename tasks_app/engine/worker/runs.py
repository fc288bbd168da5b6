"""Which run a task is in: known while its batch is with this worker. Only who asks pays for it."""

from collections.abc import Iterator
from contextlib import contextmanager

from tasks_app.core.away import Addresses, Run, use_addresses
from tasks_app.core.errors import InvalidTask
from tasks_app.core.running import BATCHES
from tasks_app.core.task import Task
from tasks_app.engine.addresses import addresses
from tasks_app.lifecycle.start import StartedBatch


@contextmanager
def under_way(batch: StartedBatch) -> Iterator[None]:
    BATCHES.append(batch)
    try:
        yield
    finally:
        BATCHES.remove(batch)


def _addresses(task: Task) -> Addresses:
    for batch in list(BATCHES):  # other threads open and close batches meanwhile
        if any(one is task for one in batch.tasks):
            return addresses(Run(task.tenant, task.token, task.id, batch.batch_no))
    raise InvalidTask(
        f"task {task.id} is in no run of this process any more, so it has no addresses to report to. Ask for them "
        "while its handler runs."
    )


use_addresses(_addresses)

"""asgiref: what `sync_to_async` leaves in the threads that it uses."""

from collections.abc import Iterator
from contextlib import contextmanager

from tasks_app.libraries import Uses

with Uses("asgiref", ">=3.8.1,<4") as uses:
    from asgiref.sync import SyncToAsync

    uses.of(SyncToAsync, "threadlocal")


@contextmanager
def loop_forgotten() -> Iterator[None]:
    """A call notes in its thread which loop it works for; later calls of async_to_sync there would go to that one."""
    before = dict(vars(SyncToAsync.threadlocal))
    try:
        yield
    finally:
        vars(SyncToAsync.threadlocal).clear()
        vars(SyncToAsync.threadlocal).update(before)

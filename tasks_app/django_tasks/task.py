"""A task with Punctual's own options, and the decorator that declares one on every version of Django."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.core.signals import setting_changed
from django.dispatch import receiver

from tasks_app.core.retry import RetryPolicy

from .interface import (
    DEFAULT_TASK_BACKEND_ALIAS,
    DEFAULT_TASK_PRIORITY,
    DEFAULT_TASK_QUEUE_NAME,
    Task,
    TaskResult,
    task_backends,
)

Arguments = Sequence[Any] | Mapping[str, Any]  # of one call: by position, or by name

_backends: dict[str, Any] = {}


@receiver(setting_changed)
def _forget_backends(*, setting: str, **kwargs: object) -> None:
    if setting == "TASKS":
        _backends.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class PunctualTask(Task):
    """A task that says how it is run. An option that is None is the backend's, else the usual one of a handler."""

    key: str | Sequence[str] | None = None  # parameters that distinguish two tasks: one of each is live at a time
    timeout: float | timedelta | None = None
    max_retry: int | None = None
    backoff: RetryPolicy | Sequence[float] | None = None
    concurrency: int | None = None
    transactional: bool | None = None
    rate: float | None = None
    burst: int | None = None
    max_running: int | None = None
    batch_max: int | None = None
    retention: str | None = None
    logs: bool | None = None
    encrypted: bool | None = None

    def __post_init__(self) -> None:
        for name in ("key", "backoff"):
            value = getattr(self, name)
            if isinstance(value, list):  # so that a task can be hashed, as Django's can
                object.__setattr__(self, name, tuple(value))
        Task.__post_init__(self)

    def get_backend(self) -> Any:
        """That of the settings. Django would search it with every call, and make one for each thread."""
        found = _backends.get(self.backend)
        if found is None:
            found = _backends[self.backend] = task_backends[self.backend]
        return found

    def enqueue_many(self, calls: Iterable[Arguments]) -> Sequence[TaskResult]:
        """Enqueue many in a few statements: `send.enqueue_many([(1,), (2,)])`, or `[{"order_id": 1}, …]`.

        If one of them is wrong, none is enqueued. The results come in the order of the calls.
        """
        found: Sequence[TaskResult] = self.get_backend().enqueue_many(self, calls)
        return found

    async def aenqueue_many(self, calls: Iterable[Arguments]) -> Sequence[TaskResult]:
        return await sync_to_async(self.enqueue_many, thread_sensitive=True)(calls)


def task(
    function: Callable[..., Any] | None = None,
    *,
    priority: int = DEFAULT_TASK_PRIORITY,
    queue_name: str = DEFAULT_TASK_QUEUE_NAME,
    backend: str = DEFAULT_TASK_BACKEND_ALIAS,
    takes_context: bool = False,
    **options: Any,
) -> Any:
    """Django's @task, which takes the options of a PunctualTask on every version of Django."""
    if "run_after" in options:
        raise TypeError("run_after can't be given to @task. Use .using(run_after=...) when you enqueue.")

    def declare(call: Callable[..., Any]) -> Any:
        return task_backends[backend].task_class(
            func=call,
            priority=priority,
            queue_name=queue_name,
            backend=backend,
            takes_context=takes_context,
            **options,
        )

    return declare if function is None else declare(function)

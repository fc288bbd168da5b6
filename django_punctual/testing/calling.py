"""A handler without a database: a task that is nobody's, and a call as a worker makes it."""

import json
from collections.abc import Awaitable
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from asgiref.sync import async_to_sync
from django.utils import timezone

from tasks_app.client.class_based import BaseHandler
from tasks_app.client.declared import AnyHandler
from tasks_app.core.away import Addresses
from tasks_app.core.contact import Contact
from tasks_app.core.handlers import REGISTRY, Handler
from tasks_app.core.task import Task
from tasks_app.core.tenants import DEFAULT_TENANT

AnyType = str | AnyHandler | type[BaseHandler]


def fake_task(
    what: AnyType = "TEST",
    /,
    *,
    key: str | int | UUID = "test",
    payload: object = None,
    attempt: int = 1,
    token: UUID | None = None,
    execute_time: datetime | None = None,
    deadline: datetime | None = None,
    tenant: str = DEFAULT_TENANT,
    lane: str = "default",
    job: int | None = None,
    fire_time: datetime | None = None,
    id: int = 1,
    cancelled: bool = False,
) -> Task:
    """A task as a handler gets it, that is in no database."""
    at = (execute_time or timezone.now()).timestamp()
    text = json.dumps({} if payload is None else payload)
    ends = None if deadline is None else deadline.timestamp()
    fire = None if fire_time is None else fire_time.timestamp()
    kind, contact = name_of(what), Contact()
    contact.lost = cancelled
    task = Task(
        id, tenant, str(key), attempt, at, at, ends, (token or uuid4()).bytes, text, job, kind, lane, contact, fire
    )
    task.addresses = Addresses(*(f"https://punctual.invalid/tasks/{task.token}/{one}" for one in Addresses._fields))
    return task


def call(what: AnyType, /, *args: Any, **kwargs: Any) -> Any:
    """Call a handler as a worker does, with what JSON leaves of the arguments, and return its answer.

    A typed handler takes its own arguments; any other takes what fake_task() takes, or a task. What it raises is raised
    here. Nothing is scheduled or settled; an async handler is awaited; apply= is not called.
    """
    handler = REGISTRY.require(name_of(what))
    task = _task_for(handler, args, kwargs)
    answer = handler.call([task] if handler.batch else task)
    return async_to_sync(_awaited)(answer) if handler.is_async else answer


def name_of(what: AnyType) -> str:
    """The task type."""
    if isinstance(what, str):
        return what
    return what.type if isinstance(what, type) else what.name


def _task_for(handler: Handler, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Task:
    if handler.parameters is None:
        if args and isinstance(args[0], Task):
            return args[0]
        return fake_task(handler.name, *args, **kwargs)
    payload = handler.parameters.dump(args, kwargs)
    return fake_task(handler.name, key=handler.parameters.key_of(payload), payload=payload)


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer

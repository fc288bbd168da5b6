"""The catalogue of events for other apps: an app says which ones it tells. `client.emit` tells them."""

from collections.abc import Iterable, Sequence

from tasks_app.core.events import Kind, OutboxRow
from tasks_app.core.events import declare as _declare
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.lifecycle import outbox as _outbox

__all__ = ["Kind", "OutboxRow", "declare_kind", "emit", "emit_many"]


def declare_kind(name: str, sentence: str, data: dict[str, object], example: object = None) -> Kind:
    """Say what an event of yours means and what it carries: `data` is the JSON schema of its payload.

    Put it beside the code that tells it. Nothing is checked by it when an event is told: it is for people, and for
    whoever receives it.
    """
    return _declare(name, sentence, data, example)


def emit(
    event: str,
    payload: object,
    *,
    tenant: str = DEFAULT_TENANT,
    task_type: str | None = None,
    key: object = None,
) -> None:
    """Tell an event of your own in your own transaction: if it rolls back, nothing was told.

    With a task type and a key it is about that unit, and is heard in order with the unit's other events, as long as you
    hold a lock on what it is about.
    """
    _outbox.emit(event, [payload], tenant, task_type=task_type, keys=None if key is None else [key])


def emit_many(
    event: str,
    payloads: Iterable[object],
    *,
    tenant: str = DEFAULT_TENANT,
    task_type: str | None = None,
    keys: Sequence[object] | None = None,
) -> int:
    """emit for many payloads, in a few statements, with one key for each or none; returns how many are kept."""
    return _outbox.emit(event, payloads, tenant, task_type=task_type, keys=keys)

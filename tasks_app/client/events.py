"""The catalogue of events for other apps: an app says which ones it tells. `client.emit` tells them."""

from tasks_app.core.events import Kind
from tasks_app.core.events import declare as _declare

__all__ = ["Kind", "declare_kind"]


def declare_kind(name: str, sentence: str, data: dict[str, object], example: object = None) -> Kind:
    """Say what an event of yours means and what it carries: `data` is the JSON schema of its payload.

    Put it beside the code that tells it. Nothing is checked by it when an event is told: it is for people, and for
    whoever receives it.
    """
    return _declare(name, sentence, data, example)

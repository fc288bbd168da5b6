"""Which tasks a process knows: those in modules named `tasks`, and any other once a worker meets one of its type."""

import sys
from collections.abc import Mapping

from django.conf import settings
from django.utils.module_loading import import_string

from tasks_app.core.handlers import REGISTRY
from tasks_app.hooks import import_of_every_app

_OURS = "django_punctual."


def install() -> None:
    """Called at startup. Does nothing unless TASKS names Punctual."""
    if not _is_configured():
        return
    REGISTRY.finder = declare_at
    import_of_every_app("tasks")


def declare_at(path: str) -> str:
    """Declare the task of this path; returns why that is not possible, or nothing."""
    from .backend import PunctualBackend
    from .declared import task_at
    from .declaring import declare
    from .interface import task_backends

    if "." not in path:
        return ""
    try:
        task = task_at(path)
        backend = next(one for one in task_backends.all() if isinstance(one, PunctualBackend))
        declare(task, backend.punctual)
    except Exception as error:  # whatever its module raises when it is imported
        return f"it can't import the task: {type(error).__name__}: {error}"
    return ""


def _is_configured() -> bool:
    configured = getattr(settings, "TASKS", None)
    if not isinstance(configured, Mapping):
        return False
    for one in configured.values():
        path = one.get("BACKEND", "") if isinstance(one, Mapping) else ""
        try:
            found = import_string(path)
        except ImportError:
            if str(path).startswith(_OURS):
                raise
            continue  # the framework says what is wrong with it, when it is used
        ours = sys.modules.get("tasks_app.django_tasks.backend")
        if ours is not None and isinstance(found, type) and issubclass(found, ours.PunctualBackend):
            return True
    return False

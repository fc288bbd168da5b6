"""Django's tasks as handlers: each function is one task type, named after its module path."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tasks_app.core import handlers
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import NAME_LENGTH, REGISTRY

from .declared import DECLARED
from .interface import InvalidTask, Task
from .options import LIMITS, TASK_OPTIONS, Options
from .running import runner_of, send_finished


def declare(task: Task, options: Options) -> None:
    """Make its function the handler of its type, unless it is already."""
    path = task.module_path
    known = DECLARED.get(path)
    if known is not None and known.func is task.func and REGISTRY.get(path) is not None:
        return
    if len(path) > NAME_LENGTH:
        raise InvalidTask(
            f"Task {path!r} has a path of {len(path)} characters; at most {NAME_LENGTH} are allowed. "
            "Shorten its name, or move it to a module with a shorter one."
        )
    if path.startswith("__main__."):
        raise InvalidTask(f"Task {path!r} is defined in a script, which no worker can import. Move it to a module.")
    limits = [name for name in LIMITS if getattr(task, name, None) is not None]
    if limits and "tasks" not in task.func.__module__.split("."):
        raise InvalidTask(
            f"Task {path!r} has {limits[0]}={getattr(task, limits[0])!r}, and beats, which keep the limits, import "
            "modules named 'tasks' only. Move it to such a module of an installed app."
        )
    own = {name: value for name in TASK_OPTIONS if (value := getattr(task, name, None)) is not None}
    try:
        handlers.handler(path, **{**options.task, **own})(_named_like(task.func, runner_of(task)))
    except InvalidConfiguration as error:
        raise InvalidTask(str(error)) from None
    REGISTRY.add(replace(REGISTRY.require(path), settled=send_finished))
    DECLARED[path] = task


def _named_like(func: Callable[..., Any], run: Callable[..., Any]) -> Callable[..., Any]:
    """An error about its declaration, and a second declaration, name the function itself."""
    run.__module__, run.__qualname__, run.__name__ = func.__module__, func.__qualname__, func.__name__
    return run

"""The tasks that were declared in this process, by their module paths, and those that a path leads to."""

from importlib import import_module

from .interface import Task

DECLARED: dict[str, Task] = {}


def task_at(path: str) -> Task:
    """The task at this path; ImportError if there is none."""
    if path in DECLARED:
        return DECLARED[path]
    module, _, name = path.rpartition(".")
    if not module:
        raise ImportError(f"{path!r} is not the path of a task")
    found = getattr(import_module(module), name, None)
    if not isinstance(found, Task):
        kind = "nothing" if found is None else f"a {type(found).__name__}, which is no task,"
        raise ImportError(f"module {module!r} has {kind} under the name {name!r}")
    return found

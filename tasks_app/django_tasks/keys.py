"""The key of the unit that a call is about, if its task names parameters for it."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from inspect import Signature, signature
from typing import Any

from tasks_app.core.errors import nearest
from tasks_app.models.schedule_task import KEY_LENGTH

from .interface import InvalidTask, Task


def names_of(task: Task) -> tuple[str, ...]:
    """The parameters that distinguish two of its tasks; none: each call is a task of its own."""
    key = getattr(task, "key", None)
    if key is None:
        return ()
    names: tuple[str, ...] = (key,) if isinstance(key, str) else tuple(key)
    return names


def refuse_unknown_key(task: Task) -> None:
    names = names_of(task)
    if not names and getattr(task, "key", None) is not None:
        raise InvalidTask(f"Task {task.module_path!r}: key=() names no parameter. Leave it out.")
    known = list(_signature(task.func).parameters)[task.takes_context :]
    for name in names:
        if name not in known:
            raise InvalidTask(
                f"Task {task.module_path!r}: key={task.key!r} names {name!r}, which is no parameter of it."
                f"{nearest(str(name), known)} It takes {', '.join(known) or 'nothing'}."
            )


def key_of_call(task: Task, names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    context = (None,) if task.takes_context else ()
    try:
        given = _signature(task.func).bind(*context, *args, **kwargs)
    except TypeError as error:
        raise InvalidTask(f"Task {task.module_path!r} can't be called so: {error}.") from None
    given.apply_defaults()
    values = {name: given.arguments[name] for name in names}
    if len(values) == 1:
        [only] = values.values()
        if (isinstance(only, str) and 0 < len(only) <= KEY_LENGTH and only.isprintable()) or type(only) is int:
            return str(only)
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    if len(text) <= KEY_LENGTH and text.isprintable():
        return text
    return "sha256:" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=1000)
def _signature(func: Any) -> Signature:
    return signature(func)

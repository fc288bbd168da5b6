"""What can be declared as a handler: something that does its work when the scheduler calls it."""

import asyncio
import functools
import inspect
import sys
from collections.abc import Callable
from types import BuiltinMethodType, MethodType
from typing import Any

from .errors import InvalidConfiguration

# What is marked as a coroutine function without being one, inspect recognises from Python 3.12 on.
_is_coroutine_function = (
    inspect.iscoroutinefunction if hasattr(inspect, "markcoroutinefunction") else asyncio.iscoroutinefunction
)

ONE_TASK = ("one argument, the task", 1)
ALL_TASKS = ("one argument, the list of tasks", 1)
TASK_AND_ANSWER = ("two arguments, the task and the call's answer", 2)


def refuse_what_never_runs(call: object, where: str) -> None:
    """Raise unless `call` does its work when called; `where` begins the message."""
    what = words_for(call)
    if isinstance(call, type):
        raise InvalidConfiguration(
            f"{where}{what} is a class: calling it makes an object, and nothing of that runs. "
            "Derive it from BaseHandler, or declare a function or an object with a __call__."
        )
    if not callable(call):
        raise InvalidConfiguration(f"{where}{what} can't be called. Declare a function or an object with a __call__.")
    inner = function_in(call)
    if inspect.isasyncgenfunction(inner) or inspect.isgeneratorfunction(inner):
        kind = "a generator function" if inspect.isgeneratorfunction(inner) else "an async generator function"
        raise InvalidConfiguration(
            f"{where}{what} is {kind}: calling it runs nothing. Take the yield out, and loop inside it instead."
        )


def refuse_wrong_arguments(call: Callable[..., object], where: str, given: tuple[str, int]) -> None:
    """Raise unless `call` takes what it will be given."""
    words, number = given
    signature = signature_of(call)
    if signature is None:
        return
    try:
        signature.bind(*[None] * number)
    except TypeError:
        raise InvalidConfiguration(
            f"{where}{words_for(call)} is called with {words}, but takes {signature}. Make it take exactly that."
        ) from None


def signature_of(call: Any) -> inspect.Signature | None:
    """What it takes itself, whatever it says that it wraps: a decorator may add arguments, and it is the decorator that
    is called. None for some builtins, which don't tell."""
    if isinstance(inspect.getattr_static(type(call), "__call__", None), staticmethod):
        call = call.__call__  # else inspect takes its first argument for self
    try:
        return inspect.signature(call.__func__ if isinstance(call, staticmethod) else call, follow_wrapped=False)
    except (TypeError, ValueError):
        return None


def is_async(call: Callable[..., object]) -> bool:
    """Whether what a call returns has to be awaited: a coroutine function in whatever shape."""
    return _is_coroutine_function(function_in(call))


def place_of(call: Callable[..., object], *, depth: int = 1) -> str:
    """Where it was declared, the same each time: its name, or for what has none of its own the line of that caller."""
    name, module = getattr(call, "__qualname__", None), getattr(call, "__module__", None)
    own = isinstance(name, str) and "<lambda>" not in name and not isinstance(call, MethodType | BuiltinMethodType)
    if own and isinstance(module, str):
        return f"{module}.{name}"
    frame = sys._getframe(depth + 1)
    return f"{frame.f_globals.get('__name__')}, line {frame.f_lineno}"


def function_in(call: object) -> Any:
    """The function that runs in the end, without the partials, methods and objects around it."""
    for _ in range(100):
        if isinstance(call, functools.partial):
            call = call.func
        elif isinstance(call, staticmethod | MethodType):
            call = call.__func__
        elif inspect.isroutine(call) or _is_coroutine_function(call):
            return call
        else:
            # An object: what runs is the __call__ of its class, which may be a static method.
            call = inspect.getattr_static(type(call), "__call__", None)
    return call


def words_for(call: object) -> str:
    name = getattr(call, "__qualname__", None)
    return name if isinstance(name, str) else f"{call!r:.120}"

"""Imports that wait until they are needed."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


@cache  # the same function each time, so that a registry recognises it
def when_called(path: str) -> Callable[..., Any]:
    """The function `module:name`; its module is imported with the first call."""
    module, _, name = path.partition(":")

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(module), name)(*args, **kwargs)

    call.__module__, call.__name__, call.__qualname__ = module, name, name
    return call

"""Names of a public module that are imported when they are first used."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def attributes_of(name: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of the module `name`; `modules` lists the names that each module defines."""
    module_of = {one: module for module, names in modules.items() for one in names}

    def find(attribute: str) -> Any:
        if attribute not in module_of:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        return getattr(import_module(module_of[attribute]), attribute)

    return find

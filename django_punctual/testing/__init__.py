"""For people who write handlers: call one, run what is due, move the database's clock, and assert what was scheduled.

Works inside Django's TestCase and TransactionTestCase and with pytest-django; needs no beat, worker or broker. Names
are imported when they are first used: the pytest plugin lies here, and is loaded before Django has its settings.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .asserting import assert_not_scheduled, assert_scheduled, scheduled
    from .calling import call, fake_task
    from .clock import FrozenClock, frozen_clock
    from .running import run_due

__all__ = [
    "FrozenClock",
    "assert_not_scheduled",
    "assert_scheduled",
    "call",
    "fake_task",
    "frozen_clock",
    "run_due",
    "scheduled",
]

_MODULES = {
    "FrozenClock": "clock",
    "assert_not_scheduled": "asserting",
    "assert_scheduled": "asserting",
    "call": "calling",
    "fake_task": "calling",
    "frozen_clock": "clock",
    "run_due": "running",
    "scheduled": "asserting",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_MODULES[name]}", __name__), name)

"""For people who write handlers: call one, run what is due, move the database's clock, and assert what was scheduled.

Works inside Django's TestCase and TransactionTestCase and with pytest-django; needs no beat, worker or broker. Names
are imported when they are first used: the pytest plugin lies here, and is loaded before Django has its settings.
"""

from typing import TYPE_CHECKING

from django_punctual._later import attributes_of

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

__getattr__ = attributes_of(
    __name__,
    {
        f"{__name__}.asserting": ("assert_not_scheduled", "assert_scheduled", "scheduled"),
        f"{__name__}.calling": ("call", "fake_task"),
        f"{__name__}.clock": ("FrozenClock", "frozen_clock"),
        f"{__name__}.running": ("run_due",),
    },
)

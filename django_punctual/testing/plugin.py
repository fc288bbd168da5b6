"""The pytest plugin: the fixture `punctual` has all of django_punctual.testing, and releases its clock after the test.

Nothing of Django is imported here before the fixture is used.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from datetime import datetime

    from django_punctual import testing
    from django_punctual.testing import FrozenClock


class Punctual:
    """What a test asks of the scheduler; everything else in django_punctual.testing is an attribute as well."""

    if TYPE_CHECKING:
        assert_not_scheduled = staticmethod(testing.assert_not_scheduled)
        assert_scheduled = staticmethod(testing.assert_scheduled)
        call = staticmethod(testing.call)
        fake_task = staticmethod(testing.fake_task)
        run_due = staticmethod(testing.run_due)
        scheduled = staticmethod(testing.scheduled)

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._clock: FrozenClock | None = None

    @property
    def clock(self) -> "FrozenClock":
        """The database's clock, frozen from the first use on until the test ends."""
        return self._clock or self.freeze()

    def freeze(self, at: "datetime | None" = None) -> "FrozenClock":
        """Stop the database's clock at this moment, or at now, until the test ends."""
        from django_punctual.testing import frozen_clock

        if self._clock is None:
            self._clock = self._stack.enter_context(frozen_clock(at))
        elif at is not None:
            self._clock.move_to(at)
        return self._clock

    def __getattr__(self, name: str) -> Any:
        from django_punctual import testing

        if name not in testing.__all__:
            raise AttributeError(f"django_punctual.testing has no {name!r}; it has {', '.join(testing.__all__)}")
        return getattr(testing, name)


@pytest.fixture
def punctual(db: None) -> Iterator[Punctual]:
    """Run what is due, move the clock, assert what was scheduled; gives the test the database as pytest-django does.

    `db` is a parameter, since pytest-django makes a test database only if a test names it when it is collected; if the
    test asks for transactional_db as well, or is marked, that counts.
    """
    with ExitStack() as stack:
        yield Punctual(stack)

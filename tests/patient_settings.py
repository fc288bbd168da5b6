"""The tests' settings with a dispatch lease that never runs out: for who must not wait for it."""

from tests.settings import *  # noqa: F403
from tests.settings import PUNCTUAL

PUNCTUAL = PUNCTUAL | {"DISPATCH_LEASE_SECONDS": 3600.0}

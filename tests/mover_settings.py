"""The tests' settings with a mover that takes what is over at once: for beats that are killed while they move."""

from tests.settings import *  # noqa: F403
from tests.settings import PUNCTUAL

PUNCTUAL = PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.05, "MOVE_SECONDS": 0.05}

"""The tests' settings with a planner that looks often and not far: for beats that are killed at the tick."""

from tests.settings import *  # noqa: F403
from tests.settings import PUNCTUAL

PUNCTUAL = PUNCTUAL | {"PLAN_AHEAD_SECONDS": 1.0, "PLAN_SECONDS": 0.1}

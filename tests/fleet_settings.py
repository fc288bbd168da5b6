"""The tests' settings with the leases that people have; for full-scale claims about a fleet."""

from scheduler_project.settings import PUNCTUAL as SHIPPED
from tests.settings import *  # noqa: F403

PUNCTUAL = SHIPPED | {"CANARY_SECONDS": 0}

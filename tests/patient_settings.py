"""The tests' settings with a dispatch lease that never runs out, and beats that fail: for who must not wait for it."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import PUNCTUAL

PUNCTUAL = PUNCTUAL | {"DISPATCH_LEASE_SECONDS": 3600.0}
if beat := os.environ.get("TEST_BEAT"):
    PUNCTUAL["CELERY"] = {"beat_scheduler": beat}

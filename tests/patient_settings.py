"""The tests' settings with a dispatch lease that never runs out, and beats that fail: for who must not wait for it."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import CELERY_BEAT_SCHEDULER as SHIPPED
from tests.settings import PUNCTUAL

PUNCTUAL = PUNCTUAL | {"DISPATCH_LEASE_SECONDS": 3600.0}
CELERY_BEAT_SCHEDULER = os.environ.get("TEST_BEAT", SHIPPED)

"""The project's settings with the test app and short leases; used by the tests and the processes they start."""

import json
import os

from scheduler_project.settings import *  # noqa: F403
from scheduler_project.settings import INSTALLED_APPS, PUNCTUAL
from tests.support import project_celery  # noqa: F401  (as a project does it that has a Celery app of its own)

INSTALLED_APPS = [*INSTALLED_APPS, "tests.support.testapp"]
PUNCTUAL = PUNCTUAL | {
    "CANARY_SECONDS": float(os.environ.get("TEST_CANARY_SECONDS", "0")),
    "DISPATCH_LEASE_SECONDS": 2.0,
    "RUN_LEASE_SECONDS": float(os.environ.get("TEST_RUN_LEASE_SECONDS", "3")),
    "HEARTBEAT_SECONDS": 1.0,
    "REAP_SECONDS": 0.3,
    "SHARD_LEASE_SECONDS": 2.0,
    "NODE_SECONDS": 0.3,
    "NODE_TTL_SECONDS": 8.0,  # of a process that is stalled for a few seconds, others don't say that it is gone
    "FORECAST_SECONDS": 0.000_001,
    "SHUTDOWN_SECONDS": 2.0,
    "TIMEOUT_GRACE_SECONDS": 1.0,
    "ALARM_SECONDS": 1.0,
    # A web process that is there for many tests would look at the tables of each; on a busy machine knocks take long.
    "LOOKOUT_SECONDS": float(os.environ.get("TEST_LOOKOUT_SECONDS", "0")),
    "SHED_MS": 0.0,
    "SAFEGUARD_SECONDS": float(os.environ.get("TEST_SAFEGUARD_SECONDS", "5")),
    "SAFEGUARDS": json.loads(os.environ.get("TEST_SAFEGUARDS", "{}")),
    "WAKEUP_MS": 5000.0,  # on a busy machine Redis may take longer than the 50 ms that a caller would give it
}
PUNCTUAL |= json.loads(os.environ.get("TEST_PUNCTUAL", "{}"))
TASKS = json.loads(os.environ.get("TEST_TASKS", "{}"))
if "TEST_START_METHOD" in os.environ:
    PUNCTUAL["CELERY"] = {"worker_pool_start_method": os.environ["TEST_START_METHOD"]}
if "TEST_POISON" in os.environ:
    from tests.support import poison  # noqa: F401
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# The browser keeps what it has loaded between tests, and would ask for each file again once a minute.
WHITENOISE_MAX_AGE = 3600

"""The chore `quotas`: counts what tenants with a quota of tasks or jobs have, in one statement for all of them."""

import time

from tasks_app.core.tenants import NEAR
from tasks_app.database import atomic
from tasks_app.lifecycle.quotas import tell_near
from tasks_app.sql import run

COUNTED_ROWS = 200_000  # of the table of tasks; of a larger one some pages are counted, and the rest reckoned
ROWS_A_PAGE = 30
JOBS_SECONDS = 60.0  # between two counts of jobs, which people make

_jobs_at = float("-inf")  # when this beat counted them last, by the monotonic clock


def count_used() -> str:
    """Tells of those that come near a quota. Returns what it did, for the log."""
    global _jobs_at
    now = time.monotonic()
    with_jobs = now - _jobs_at >= JOBS_SECONDS
    asked = {"rows": COUNTED_ROWS, "rows_a_page": ROWS_A_PAGE, "near": NEAR, "with_jobs": with_jobs}
    with atomic():
        near = run("count_used", asked)
        for tenant, quota, limit, used in near:
            tell_near(tenant, quota, limit, used)
    if with_jobs:
        _jobs_at = now
    return f"{len(near)} came near a quota"


def count_again() -> None:
    """The next look counts jobs, too, whenever the last one did."""
    global _jobs_at
    _jobs_at = float("-inf")

"""Whose a task is, and what a tenant may have. A token of the API is of one tenant, and sees nothing of another."""

from collections.abc import Mapping
from typing import NamedTuple

from .errors import InvalidTask, nearest, shown

TENANT_LENGTH = 63
TITLE_LENGTH = 100
DEFAULT_TENANT = "default"
# The scheduler's own tasks, and those of the apps beside it: no token is of it unless somebody said so twice.
INTERNAL_TENANT = "internal"
CANARY = "PUNCTUAL_CANARY"  # the type of its tasks that fly through every lane: engine/canary.py
USUAL_WEIGHT = 100
MOST_WEIGHT = 10_000
MOST_CONTACTS = 20
CONTACT_LENGTH = 254
RATE_SECONDS = 10.0  # over which new tasks are counted: so many times the quota may come at once
NEAR = 0.8  # of a quota: from there on somebody is told


class Quota(NamedTuple):
    """A quota that a tenant can have."""

    name: str
    words: str  # what there may be so many of
    most: int  # more than this is surely a mistake


QUOTAS = {
    one.name: one
    for one in (
        Quota("max_jobs", "jobs", 100_000_000),
        Quota("max_tasks", "live tasks", 2_000_000_000),
        Quota("max_payload_bytes", "bytes in the payload of a task", 1_000_000_000),
        Quota("schedules_per_second", "new tasks in a second", 1_000_000),
        Quota("max_running", "tasks that run at the same time", 1_000_000),
        Quota("max_history_days", "days that what is over is kept", 36_500),
        Quota("calls_per_minute", "calls of the REST API in a minute", 100_000_000),
    )
}


# Of these it is counted how much is used, and kept for some weeks.
COUNTED = ("max_jobs", "max_tasks", "schedules_per_second", "max_running", "calls_per_minute")


def checked_quotas(given: Mapping[str, object]) -> dict[str, int | None]:
    """Quotas as they are given; InvalidTask names the one that won't do. None: no such quota."""
    found: dict[str, int | None] = {}
    for name, value in given.items():
        quota = QUOTAS.get(name)
        if quota is None:
            raise InvalidTask(
                f"there is no quota {shown(name)}.{nearest(str(name), QUOTAS)} There are {', '.join(QUOTAS)}."
            )
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= quota.most
        ):
            raise InvalidTask(
                f"{name}={shown(value)} won't do: it must be a whole number from 0 to {quota.most:,}, or none at all."
            )
        found[name] = value
    return found


def checked_weight(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_WEIGHT:
        raise InvalidTask(
            f"weight={shown(value)} won't do: it must be a whole number from 1 to {MOST_WEIGHT:,}; "
            f"{USUAL_WEIGHT} is the usual one."
        )
    return value

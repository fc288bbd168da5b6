"""The words of a job: its states, what it does about firings that were missed, and how it comes back from a pause."""

from enum import StrEnum


class JobStatus(StrEnum):
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"


class CatchUp(StrEnum):
    """Firings that nobody planned in time, say because no beat was alive."""

    NONE = "none"
    LATEST = "latest"  # the last one of them
    ALL = "all"  # each of them, the newest up to a cap


class OnResume(StrEnum):
    """Firings that fell into a pause."""

    SKIP = "skip"
    LATEST = "latest"
    ALL = "all"


def manual_key(job_id: int, key: str = "") -> str:
    """The key of an instance that somebody triggered; without `key`, how all of this job's begin.

    That of a scheduled one is `job:fire_time`, so neither can be taken for the other.
    """
    return f"{job_id}:m:{key}"


def again_key(job_id: int) -> str:
    """How the keys of instances begin that a backfill made for firings that may have run before."""
    return f"{job_id}:b:"

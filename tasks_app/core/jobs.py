"""The words of a job: its states, what it does about firings that were missed or come too soon, how it comes back."""

from enum import StrEnum


class JobStatus(StrEnum):
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"


class CatchUp(StrEnum):
    """Firings that nobody planned in time, say because no beat was alive."""

    NONE = "none"
    LATEST = "latest"  # the last one of them
    ALL = "all"  # each of them, the newest up to a cap


class Overlap(StrEnum):
    """An instance whose time comes while an older one of its job is under way."""

    ALLOW = "allow"  # it runs beside it
    SKIP = "skip"  # it is cancelled
    QUEUE_ONE = "queue_one"  # it waits for its turn; those that come while one waits are cancelled
    QUEUE_ALL = "queue_all"  # it waits for its turn, however many do
    REPLACE = "replace"  # the older one is cancelled


class OnResume(StrEnum):
    """Firings that fell into a pause."""

    SKIP = "skip"
    LATEST = "latest"
    ALL = "all"


def firing_key(job_id: int, label: str) -> str:
    """The key of the instance of one firing."""
    return f"{job_id}:{label}"


def manual_key(job_id: int, key: str = "") -> str:
    """The key of an instance that somebody triggered; without `key`, how all of this job's begin.

    That of a scheduled one is `job:fire_time`, so neither can be taken for the other.
    """
    return f"{job_id}:m:{key}"


def again_key(job_id: int) -> str:
    """How the keys of instances begin that a backfill made for firings that may have run before."""
    return f"{job_id}:b:"

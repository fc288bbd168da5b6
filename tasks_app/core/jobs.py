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


MANUAL = "m"  # a triggered instance is `job:m:key`, so it can't be taken for a scheduled one

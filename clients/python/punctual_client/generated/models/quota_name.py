from enum import StrEnum
from typing import Self


class QuotaName(StrEnum):
    CALLS_PER_MINUTE = "calls_per_minute"
    MAX_JOBS = "max_jobs"
    MAX_RUNNING = "max_running"
    MAX_TASKS = "max_tasks"
    SCHEDULES_PER_SECOND = "schedules_per_second"

    @classmethod
    def _missing_(cls, value: object) -> Self:
        """A word that a newer server says: kept as it is, so that its answer can still be read."""
        member = str.__new__(cls, value)
        member._name_ = member._value_ = str(value)
        return member

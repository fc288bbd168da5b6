from enum import StrEnum
from typing import Self


class Rule(StrEnum):
    ABOUT_TO_RUN = "about_to_run"
    AWAY = "away"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"
    DEAD = "dead"
    DONE = "done"
    ENDED = "ended"
    HELD_OVERDUE = "held_overdue"
    HOST_LIMIT = "host_limit"
    HOST_UNWELL = "host_unwell"
    JOB_PAUSED = "job_paused"
    LANE_HELD = "lane_held"
    LANE_PAUSED = "lane_paused"
    LIMIT_UNKNOWN = "limit_unknown"
    LOST = "lost"
    NOT_DUE = "not_due"
    NO_DISPATCHER = "no_dispatcher"
    NO_WORKER = "no_worker"
    OVER_RATE = "over_rate"
    PARENT_FAILED = "parent_failed"
    QUARANTINED = "quarantined"
    REHEARSED = "rehearsed"
    RUNNING = "running"
    SCHEDULE_UNREADABLE = "schedule_unreadable"
    SHARD_WITHOUT_DISPATCHER = "shard_without_dispatcher"
    SUPERSEDED = "superseded"
    TENANT_FULL = "tenant_full"
    TENANT_SUSPENDED = "tenant_suspended"
    TYPE_HELD = "type_held"
    UNKNOWN_HANDLER = "unknown_handler"
    WAITS_FOR_RETRY = "waits_for_retry"
    WAITS_FOR_RETRY_BUDGET = "waits_for_retry_budget"
    WAITS_FOR_SLOT = "waits_for_slot"
    WAITS_FOR_TURN = "waits_for_turn"
    WORKER_DEAF = "worker_deaf"
    WORKER_SILENT = "worker_silent"

    @classmethod
    def _missing_(cls, value: object) -> Self:
        """A word that a newer server says: kept as it is, so that its answer can still be read."""
        member = str.__new__(cls, value)
        member._name_ = member._value_ = str(value)
        return member

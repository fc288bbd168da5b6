"""The rules that keep a task or a job waiting, by the names that programs know; whoever decides makes the sentence."""

from enum import StrEnum
from typing import NamedTuple


class Rule(StrEnum):
    JOB_PAUSED = "job_paused"
    ENDED = "ended"
    SCHEDULE_UNREADABLE = "schedule_unreadable"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    RUNNING = "running"
    WORKER_SILENT = "worker_silent"
    LOST = "lost"
    AWAY = "away"
    BLOCKED = "blocked"
    PARENT_FAILED = "parent_failed"
    WAITS_FOR_TURN = "waits_for_turn"
    WAITS_FOR_RETRY = "waits_for_retry"
    WAITS_FOR_RETRY_BUDGET = "waits_for_retry_budget"
    NOT_DUE = "not_due"
    QUARANTINED = "quarantined"
    REHEARSED = "rehearsed"
    HELD_OVERDUE = "held_overdue"
    TENANT_SUSPENDED = "tenant_suspended"
    TENANT_FULL = "tenant_full"
    LANE_PAUSED = "lane_paused"
    LANE_HELD = "lane_held"
    TYPE_HELD = "type_held"
    NO_DISPATCHER = "no_dispatcher"
    SHARD_WITHOUT_DISPATCHER = "shard_without_dispatcher"
    NO_WORKER = "no_worker"
    WAITS_FOR_SLOT = "waits_for_slot"
    HOST_LIMIT = "host_limit"
    HOST_UNWELL = "host_unwell"
    LIMIT_UNKNOWN = "limit_unknown"
    OVER_RATE = "over_rate"
    WORKER_DEAF = "worker_deaf"
    UNKNOWN_HANDLER = "unknown_handler"
    ABOUT_TO_RUN = "about_to_run"


class Reason(NamedTuple):
    """Why something runs or does not: the rule that was applied, and a sentence about this very case."""

    rule: Rule  # for programs
    words: str  # for people
    outside: str = ""  # instead, for those whom the scheduler's own people and machines do not concern

"""The tables. Rows of punctual_task change their status only through tasks_app.lifecycle."""

from .alarm_alert import AlarmAlert
from .alarm_channel import AlarmChannel
from .alarm_incident import AlarmIncident
from .alarm_reader import AlarmReader
from .alarm_rule import AlarmRule
from .api_token import ApiToken
from .audit_chain import AnchorPlace, AuditAnchor, AuditLink, AuditTrail, MissingEntry, SkippedEntry, UnchainedEntry
from .audit_entry import AuditEntry
from .away_outcome import AwayOutcome
from .away_task import AwayTask
from .backfill import Backfill
from .backup_place import BackupPlace
from .calendar import Calendar
from .campaign import Campaign, CampaignChunk
from .count import Count, CountPass
from .declared_job import DeclaredJob
from .delivery import Delivery
from .dlq_entry import DlqEntry
from .early_report import EarlyReport
from .firing_override import FiringOverride
from .graph_run import GraphRun
from .host import Host, HostHealth, HostPermit
from .hour_figures import HourFigures
from .idempotency_record import IdempotencyRecord
from .imported_schedule import ImportedSchedule
from .installation import Installation, RehearsedTask, SignOfLife, Site
from .job_cursor import JobCursor
from .job_definition import JobDefinition
from .job_parent import JobParent
from .lane_pause import LanePause
from .lane_resume import LaneResume
from .leaving_partition import LeavingPartition
from .maintenance_entry import MaintenanceEntry
from .membership import Membership, OwnedUnit
from .minute_figures import MinuteFigures
from .node import Node
from .outbox_event import OutboxEvent
from .outbox_window import OutboxWindow
from .recovery import Recovery
from .safeguard import Curb, Pulse, PulseReader, Safeguard, SafeguardIncident
from .saved_filter import SavedFilter
from .schedule_task import AnyTask, PastTask, ScheduleTask
from .scope import CurbPermit, ScopeMinute, ScopeOutcome
from .secret import Secret
from .service_minute import ServiceMinute
from .shard_lease import ShardLease
from .sieve import Sieve
from .stall import Stall
from .subscription import Subscription
from .task_attempt import TaskAttempt
from .task_batch import AnyBatch, PastBatch, TaskBatch
from .task_log import TaskLog
from .task_progress import TaskProgress
from .task_trace import TaskTrace
from .task_wait import TaskWait
from .tenant import HeldTask, QuotaUse, ScheduleCount, Tenant, TenantArchive
from .tenant_key import KeyWalk, TenantKey
from .timetable import Timetable
from .turn import Turn
from .type_limit import TypeLimit
from .unit_revision import UnitRevision

__all__ = [
    "AlarmAlert",
    "AlarmChannel",
    "AlarmIncident",
    "AlarmReader",
    "AlarmRule",
    "AnchorPlace",
    "AnyBatch",
    "AnyTask",
    "ApiToken",
    "AuditAnchor",
    "AuditEntry",
    "AuditLink",
    "AuditTrail",
    "AwayOutcome",
    "AwayTask",
    "Backfill",
    "BackupPlace",
    "Calendar",
    "Campaign",
    "CampaignChunk",
    "Count",
    "CountPass",
    "Curb",
    "CurbPermit",
    "DeclaredJob",
    "Delivery",
    "DlqEntry",
    "EarlyReport",
    "FiringOverride",
    "GraphRun",
    "HeldTask",
    "Host",
    "HostHealth",
    "HostPermit",
    "HourFigures",
    "IdempotencyRecord",
    "ImportedSchedule",
    "Installation",
    "JobCursor",
    "JobDefinition",
    "JobParent",
    "KeyWalk",
    "LanePause",
    "LaneResume",
    "LeavingPartition",
    "MaintenanceEntry",
    "Membership",
    "MinuteFigures",
    "MissingEntry",
    "Node",
    "OutboxEvent",
    "OutboxWindow",
    "OwnedUnit",
    "PastBatch",
    "PastTask",
    "Pulse",
    "PulseReader",
    "QuotaUse",
    "Recovery",
    "RehearsedTask",
    "Safeguard",
    "SafeguardIncident",
    "SavedFilter",
    "ScheduleCount",
    "ScheduleTask",
    "ScopeMinute",
    "ScopeOutcome",
    "Secret",
    "ServiceMinute",
    "ShardLease",
    "Sieve",
    "SignOfLife",
    "Site",
    "SkippedEntry",
    "Stall",
    "Subscription",
    "TaskAttempt",
    "TaskBatch",
    "TaskLog",
    "TaskProgress",
    "TaskTrace",
    "TaskWait",
    "Tenant",
    "TenantArchive",
    "TenantKey",
    "Timetable",
    "Turn",
    "TypeLimit",
    "UnchainedEntry",
    "UnitRevision",
]

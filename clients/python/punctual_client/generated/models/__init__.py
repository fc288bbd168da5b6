"""Contains all the data models used in inputs/outputs"""

from .answer import Answer
from .attempt_out import AttemptOut
from .attempt_page import AttemptPage
from .audit_out import AuditOut
from .audit_page import AuditPage
from .bulk_cancel_in import BulkCancelIn
from .bulk_cancel_out import BulkCancelOut
from .bulk_cancelled_out import BulkCancelledOut
from .bulk_create_in import BulkCreateIn
from .bulk_create_out import BulkCreateOut
from .bulk_created_out import BulkCreatedOut
from .bulk_outcome import BulkOutcome
from .catch_up import CatchUp
from .dst_gap import DstGap
from .dst_repeat import DstRepeat
from .error_out import ErrorOut
from .firing import Firing
from .health_out import HealthOut
from .health_status import HealthStatus
from .job_in import JobIn
from .job_out import JobOut
from .job_page import JobPage
from .job_patch import JobPatch
from .job_ref import JobRef
from .job_status import JobStatus
from .lane import Lane
from .lane_changed_out import LaneChangedOut
from .lane_health import LaneHealth
from .lane_out import LaneOut
from .lane_pause_out import LanePauseOut
from .lane_reason_in import LaneReasonIn
from .lanes import Lanes
from .limit_load import LimitLoad
from .limit_out import LimitOut
from .limits import Limits
from .live_out import LiveOut
from .mode import Mode
from .on_resume import OnResume
from .operated_out import OperatedOut
from .pause_in import PauseIn
from .payload_schema import PayloadSchema
from .plan_outcome import PlanOutcome
from .planned_out import PlannedOut
from .preview_out import PreviewOut
from .problem import Problem
from .problem_code import ProblemCode
from .product_out import ProductOut
from .product_page import ProductPage
from .reason_in import ReasonIn
from .refusal_out import RefusalOut
from .reschedule_in import RescheduleIn
from .resume_in import ResumeIn
from .rule import Rule
from .target_in import TargetIn
from .task_in import TaskIn
from .task_out import TaskOut
from .task_page import TaskPage
from .task_ref import TaskRef
from .task_status import TaskStatus
from .task_type_out import TaskTypeOut
from .task_types import TaskTypes
from .trigger_in import TriggerIn
from .trigger_out import TriggerOut
from .unit_reschedule_in import UnitRescheduleIn
from .version_out import VersionOut
from .why_out import WhyOut
from .window_out import WindowOut

__all__ = (
    "Answer",
    "AttemptOut",
    "AttemptPage",
    "AuditOut",
    "AuditPage",
    "BulkCancelIn",
    "BulkCancelledOut",
    "BulkCancelOut",
    "BulkCreatedOut",
    "BulkCreateIn",
    "BulkCreateOut",
    "BulkOutcome",
    "CatchUp",
    "DstGap",
    "DstRepeat",
    "ErrorOut",
    "Firing",
    "HealthOut",
    "HealthStatus",
    "JobIn",
    "JobOut",
    "JobPage",
    "JobPatch",
    "JobRef",
    "JobStatus",
    "Lane",
    "LaneChangedOut",
    "LaneHealth",
    "LaneOut",
    "LanePauseOut",
    "LaneReasonIn",
    "Lanes",
    "LimitLoad",
    "LimitOut",
    "Limits",
    "LiveOut",
    "Mode",
    "OnResume",
    "OperatedOut",
    "PauseIn",
    "PayloadSchema",
    "PlannedOut",
    "PlanOutcome",
    "PreviewOut",
    "Problem",
    "ProblemCode",
    "ProductOut",
    "ProductPage",
    "ReasonIn",
    "RefusalOut",
    "RescheduleIn",
    "ResumeIn",
    "Rule",
    "TargetIn",
    "TaskIn",
    "TaskOut",
    "TaskPage",
    "TaskRef",
    "TaskStatus",
    "TaskTypeOut",
    "TaskTypes",
    "TriggerIn",
    "TriggerOut",
    "UnitRescheduleIn",
    "VersionOut",
    "WhyOut",
    "WindowOut",
)

"""Contains all the data models used in inputs/outputs"""

from .advice_out import AdviceOut
from .alarm_channel_in import AlarmChannelIn
from .alarm_channel_out import AlarmChannelOut
from .alarm_channel_page import AlarmChannelPage
from .alarm_channel_patch import AlarmChannelPatch
from .alarm_channel_test_out import AlarmChannelTestOut
from .alarm_rule_in import AlarmRuleIn
from .alarm_rule_out import AlarmRuleOut
from .alarm_rule_page import AlarmRulePage
from .alarm_rule_patch import AlarmRulePatch
from .alarm_scope import AlarmScope
from .alert_kind import AlertKind
from .alert_out import AlertOut
from .alert_outcome import AlertOutcome
from .alert_page import AlertPage
from .answer import Answer
from .any_campaign_kind import AnyCampaignKind
from .attempt_out import AttemptOut
from .attempt_page import AttemptPage
from .audit_out import AuditOut
from .audit_page import AuditPage
from .availability_out import AvailabilityOut
from .away_out import AwayOut
from .backfill_in import BackfillIn
from .backfill_out import BackfillOut
from .backfill_which import BackfillWhich
from .backfills_in import BackfillsIn
from .bulk_cancel_in import BulkCancelIn
from .bulk_cancel_out import BulkCancelOut
from .bulk_cancelled_out import BulkCancelledOut
from .bulk_create_in import BulkCreateIn
from .bulk_create_out import BulkCreateOut
from .bulk_created_out import BulkCreatedOut
from .bulk_outcome import BulkOutcome
from .calendar_file_in import CalendarFileIn
from .calendar_file_out import CalendarFileOut
from .calendar_in import CalendarIn
from .calendar_in_days_off_type_0 import CalendarInDaysOffType0
from .calendar_in_working_days_type_0 import CalendarInWorkingDaysType0
from .calendar_out import CalendarOut
from .calendar_out_days_off import CalendarOutDaysOff
from .calendar_out_working_days import CalendarOutWorkingDays
from .calendar_page import CalendarPage
from .calendar_patch import CalendarPatch
from .calendar_patch_days_off_type_0 import CalendarPatchDaysOffType0
from .calendar_patch_working_days_type_0 import CalendarPatchWorkingDaysType0
from .campaign_changed_out import CampaignChangedOut
from .campaign_in import CampaignIn
from .campaign_kind import CampaignKind
from .campaign_out import CampaignOut
from .campaign_out_counts import CampaignOutCounts
from .campaign_page import CampaignPage
from .campaign_state import CampaignState
from .catch_up import CatchUp
from .cause_out import CauseOut
from .causes_out import CausesOut
from .channel_kind import ChannelKind
from .complete_in import CompleteIn
from .condition import Condition
from .database_standby_out import DatabaseStandbyOut
from .day_out import DayOut
from .declared_out import DeclaredOut
from .decrypt_in import DecryptIn
from .decrypted_out import DecryptedOut
from .delivery_out import DeliveryOut
from .delivery_page import DeliveryPage
from .draft_in import DraftIn
from .draft_out import DraftOut
from .dst_gap import DstGap
from .dst_repeat import DstRepeat
from .error_out import ErrorOut
from .event_scope import EventScope
from .fail_in import FailIn
from .falls_out import FallsOut
from .field_error_out import FieldErrorOut
from .firing import Firing
from .firing_changed_out import FiringChangedOut
from .firing_outcome import FiringOutcome
from .forecast_out import ForecastOut
from .health_out import HealthOut
from .health_status import HealthStatus
from .hidden_part import HiddenPart
from .host_limit_in import HostLimitIn
from .host_limit_out import HostLimitOut
from .host_tried_out import HostTriedOut
from .hosts import Hosts
from .if_parent_fails import IfParentFails
from .incident_detail_out import IncidentDetailOut
from .incident_out import IncidentOut
from .incident_page import IncidentPage
from .installation_changed_out import InstallationChangedOut
from .installation_out import InstallationOut
from .installation_resume_in import InstallationResumeIn
from .installation_state import InstallationState
from .installation_stop_in import InstallationStopIn
from .job_in import JobIn
from .job_out import JobOut
from .job_page import JobPage
from .job_patch import JobPatch
from .job_ref import JobRef
from .job_saved_out import JobSavedOut
from .job_status import JobStatus
from .lane import Lane
from .lane_changed_out import LaneChangedOut
from .lane_forecast import LaneForecast
from .lane_health import LaneHealth
from .lane_out import LaneOut
from .lane_pause_out import LanePauseOut
from .lane_reason_in import LaneReasonIn
from .lanes import Lanes
from .lease_out import LeaseOut
from .letter_detail_out import LetterDetailOut
from .letter_out import LetterOut
from .letter_page_out import LetterPageOut
from .letter_status import LetterStatus
from .letters_in import LettersIn
from .limit_load import LimitLoad
from .limit_out import LimitOut
from .limits import Limits
from .list_alarm_channels_scope import ListAlarmChannelsScope
from .list_alarm_rules_scope import ListAlarmRulesScope
from .list_incidents_scope import ListIncidentsScope
from .live_out import LiveOut
from .log_line_out import LogLineOut
from .log_out import LogOut
from .log_page import LogPage
from .matching_in import MatchingIn
from .member_granted_out import MemberGrantedOut
from .member_in import MemberIn
from .member_out import MemberOut
from .member_page import MemberPage
from .mode import Mode
from .move_firing_in import MoveFiringIn
from .named_secret_in import NamedSecretIn
from .named_secret_made import NamedSecretMade
from .named_secret_out import NamedSecretOut
from .named_secret_page import NamedSecretPage
from .new_alarm_channel_out import NewAlarmChannelOut
from .not_kept_out import NotKeptOut
from .on_day_off import OnDayOff
from .on_resume import OnResume
from .operated_out import OperatedOut
from .ordered_out import OrderedOut
from .outage_out import OutageOut
from .overdue_choice import OverdueChoice
from .overdue_choice_out import OverdueChoiceOut
from .overdue_lane_out import OverdueLaneOut
from .overdue_order_out import OverdueOrderOut
from .overlap import Overlap
from .pace_in import PaceIn
from .part_out import PartOut
from .pause_in import PauseIn
from .payload_schema import PayloadSchema
from .peak_out import PeakOut
from .plan_outcome import PlanOutcome
from .planned_out import PlannedOut
from .preview_out import PreviewOut
from .problem import Problem
from .problem_code import ProblemCode
from .product_out import ProductOut
from .product_page import ProductPage
from .progress_in import ProgressIn
from .progress_out import ProgressOut
from .quota_name import QuotaName
from .quota_ref import QuotaRef
from .quotas_in import QuotasIn
from .quotas_out import QuotasOut
from .reason_in import ReasonIn
from .recoveries import Recoveries
from .recovery_grade import RecoveryGrade
from .recovery_out import RecoveryOut
from .recovery_status import RecoveryStatus
from .recovery_step_out import RecoveryStepOut
from .refusal_out import RefusalOut
from .release_lane import ReleaseLane
from .replay_in import ReplayIn
from .report_out import ReportOut
from .report_outcome import ReportOutcome
from .rerun_in import RerunIn
from .rerun_out import RerunOut
from .reschedule_in import RescheduleIn
from .resume_in import ResumeIn
from .right import Right
from .role import Role
from .rule import Rule
from .run_line_out import RunLineOut
from .run_line_out_counts import RunLineOutCounts
from .run_node_out import RunNodeOut
from .run_out import RunOut
from .run_page import RunPage
from .run_state import RunState
from .safeguard_end_in import SafeguardEndIn
from .safeguard_forbid_in import SafeguardForbidIn
from .safeguard_force_in import SafeguardForceIn
from .safeguard_incident_out import SafeguardIncidentOut
from .safeguard_incident_out_actions_item import SafeguardIncidentOutActionsItem
from .safeguard_incident_out_figures import SafeguardIncidentOutFigures
from .safeguard_incidents import SafeguardIncidents
from .safeguard_mode import SafeguardMode
from .safeguard_name import SafeguardName
from .safeguard_order_out import SafeguardOrderOut
from .safeguard_ordered_out import SafeguardOrderedOut
from .safeguard_out import SafeguardOut
from .safeguard_subject_out import SafeguardSubjectOut
from .safeguard_subject_out_figures import SafeguardSubjectOutFigures
from .safeguards import Safeguards
from .secret_in import SecretIn
from .secret_out import SecretOut
from .service_levels_out import ServiceLevelsOut
from .sink_kind import SinkKind
from .site_activate_in import SiteActivateIn
from .site_chosen_out import SiteChosenOut
from .site_out import SiteOut
from .site_state import SiteState
from .sites_out import SitesOut
from .sites_standby_in import SitesStandbyIn
from .slot_out import SlotOut
from .subscription_in import SubscriptionIn
from .subscription_in_target import SubscriptionInTarget
from .subscription_made import SubscriptionMade
from .subscription_made_target import SubscriptionMadeTarget
from .subscription_out import SubscriptionOut
from .subscription_out_target import SubscriptionOutTarget
from .subscription_page import SubscriptionPage
from .subscription_patch import SubscriptionPatch
from .subscription_patch_target_type_0 import SubscriptionPatchTargetType0
from .subscription_reason_in import SubscriptionReasonIn
from .subscription_replay_in import SubscriptionReplayIn
from .subscription_resume_in import SubscriptionResumeIn
from .subscription_state import SubscriptionState
from .success_out import SuccessOut
from .tags_in import TagsIn
from .target_in import TargetIn
from .task_in import TaskIn
from .task_out import TaskOut
from .task_page import TaskPage
from .task_ref import TaskRef
from .task_status import TaskStatus
from .task_type_out import TaskTypeOut
from .task_types import TaskTypes
from .tenant_archive_in import TenantArchiveIn
from .tenant_archive_order_in import TenantArchiveOrderIn
from .tenant_archive_out import TenantArchiveOut
from .tenant_archive_phase import TenantArchivePhase
from .tenant_archive_state import TenantArchiveState
from .tenant_changed_out import TenantChangedOut
from .tenant_defaults_in import TenantDefaultsIn
from .tenant_defaults_out import TenantDefaultsOut
from .tenant_in import TenantIn
from .tenant_out import TenantOut
from .tenant_page import TenantPage
from .tenant_patch import TenantPatch
from .tenant_resume_in import TenantResumeIn
from .tenant_state import TenantState
from .tenant_suspend_in import TenantSuspendIn
from .tenant_use_out import TenantUseOut
from .tested_out import TestedOut
from .token_in import TokenIn
from .token_issued import TokenIssued
from .token_out import TokenOut
from .token_page import TokenPage
from .token_patch import TokenPatch
from .trigger_delay_out import TriggerDelayOut
from .trigger_in import TriggerIn
from .trigger_out import TriggerOut
from .trouble_sign import TroubleSign
from .unit_reschedule_in import UnitRescheduleIn
from .unwell_host_out import UnwellHostOut
from .used_out import UsedOut
from .version_out import VersionOut
from .when import When
from .why_out import WhyOut
from .window_out import WindowOut
from .withdrawn_out import WithdrawnOut
from .worker_changed_out import WorkerChangedOut
from .worker_drain_out import WorkerDrainOut
from .worker_out import WorkerOut
from .worker_reason_in import WorkerReasonIn
from .workers import Workers

__all__ = (
    "AdviceOut",
    "AlarmChannelIn",
    "AlarmChannelOut",
    "AlarmChannelPage",
    "AlarmChannelPatch",
    "AlarmChannelTestOut",
    "AlarmRuleIn",
    "AlarmRuleOut",
    "AlarmRulePage",
    "AlarmRulePatch",
    "AlarmScope",
    "AlertKind",
    "AlertOut",
    "AlertOutcome",
    "AlertPage",
    "Answer",
    "AnyCampaignKind",
    "AttemptOut",
    "AttemptPage",
    "AuditOut",
    "AuditPage",
    "AvailabilityOut",
    "AwayOut",
    "BackfillIn",
    "BackfillOut",
    "BackfillsIn",
    "BackfillWhich",
    "BulkCancelIn",
    "BulkCancelledOut",
    "BulkCancelOut",
    "BulkCreatedOut",
    "BulkCreateIn",
    "BulkCreateOut",
    "BulkOutcome",
    "CalendarFileIn",
    "CalendarFileOut",
    "CalendarIn",
    "CalendarInDaysOffType0",
    "CalendarInWorkingDaysType0",
    "CalendarOut",
    "CalendarOutDaysOff",
    "CalendarOutWorkingDays",
    "CalendarPage",
    "CalendarPatch",
    "CalendarPatchDaysOffType0",
    "CalendarPatchWorkingDaysType0",
    "CampaignChangedOut",
    "CampaignIn",
    "CampaignKind",
    "CampaignOut",
    "CampaignOutCounts",
    "CampaignPage",
    "CampaignState",
    "CatchUp",
    "CauseOut",
    "CausesOut",
    "ChannelKind",
    "CompleteIn",
    "Condition",
    "DatabaseStandbyOut",
    "DayOut",
    "DeclaredOut",
    "DecryptedOut",
    "DecryptIn",
    "DeliveryOut",
    "DeliveryPage",
    "DraftIn",
    "DraftOut",
    "DstGap",
    "DstRepeat",
    "ErrorOut",
    "EventScope",
    "FailIn",
    "FallsOut",
    "FieldErrorOut",
    "Firing",
    "FiringChangedOut",
    "FiringOutcome",
    "ForecastOut",
    "HealthOut",
    "HealthStatus",
    "HiddenPart",
    "HostLimitIn",
    "HostLimitOut",
    "Hosts",
    "HostTriedOut",
    "IfParentFails",
    "IncidentDetailOut",
    "IncidentOut",
    "IncidentPage",
    "InstallationChangedOut",
    "InstallationOut",
    "InstallationResumeIn",
    "InstallationState",
    "InstallationStopIn",
    "JobIn",
    "JobOut",
    "JobPage",
    "JobPatch",
    "JobRef",
    "JobSavedOut",
    "JobStatus",
    "Lane",
    "LaneChangedOut",
    "LaneForecast",
    "LaneHealth",
    "LaneOut",
    "LanePauseOut",
    "LaneReasonIn",
    "Lanes",
    "LeaseOut",
    "LetterDetailOut",
    "LetterOut",
    "LetterPageOut",
    "LettersIn",
    "LetterStatus",
    "LimitLoad",
    "LimitOut",
    "Limits",
    "ListAlarmChannelsScope",
    "ListAlarmRulesScope",
    "ListIncidentsScope",
    "LiveOut",
    "LogLineOut",
    "LogOut",
    "LogPage",
    "MatchingIn",
    "MemberGrantedOut",
    "MemberIn",
    "MemberOut",
    "MemberPage",
    "Mode",
    "MoveFiringIn",
    "NamedSecretIn",
    "NamedSecretMade",
    "NamedSecretOut",
    "NamedSecretPage",
    "NewAlarmChannelOut",
    "NotKeptOut",
    "OnDayOff",
    "OnResume",
    "OperatedOut",
    "OrderedOut",
    "OutageOut",
    "OverdueChoice",
    "OverdueChoiceOut",
    "OverdueLaneOut",
    "OverdueOrderOut",
    "Overlap",
    "PaceIn",
    "PartOut",
    "PauseIn",
    "PayloadSchema",
    "PeakOut",
    "PlannedOut",
    "PlanOutcome",
    "PreviewOut",
    "Problem",
    "ProblemCode",
    "ProductOut",
    "ProductPage",
    "ProgressIn",
    "ProgressOut",
    "QuotaName",
    "QuotaRef",
    "QuotasIn",
    "QuotasOut",
    "ReasonIn",
    "Recoveries",
    "RecoveryGrade",
    "RecoveryOut",
    "RecoveryStatus",
    "RecoveryStepOut",
    "RefusalOut",
    "ReleaseLane",
    "ReplayIn",
    "ReportOut",
    "ReportOutcome",
    "RerunIn",
    "RerunOut",
    "RescheduleIn",
    "ResumeIn",
    "Right",
    "Role",
    "Rule",
    "RunLineOut",
    "RunLineOutCounts",
    "RunNodeOut",
    "RunOut",
    "RunPage",
    "RunState",
    "SafeguardEndIn",
    "SafeguardForbidIn",
    "SafeguardForceIn",
    "SafeguardIncidentOut",
    "SafeguardIncidentOutActionsItem",
    "SafeguardIncidentOutFigures",
    "SafeguardIncidents",
    "SafeguardMode",
    "SafeguardName",
    "SafeguardOrderedOut",
    "SafeguardOrderOut",
    "SafeguardOut",
    "Safeguards",
    "SafeguardSubjectOut",
    "SafeguardSubjectOutFigures",
    "SecretIn",
    "SecretOut",
    "ServiceLevelsOut",
    "SinkKind",
    "SiteActivateIn",
    "SiteChosenOut",
    "SiteOut",
    "SitesOut",
    "SitesStandbyIn",
    "SiteState",
    "SlotOut",
    "SubscriptionIn",
    "SubscriptionInTarget",
    "SubscriptionMade",
    "SubscriptionMadeTarget",
    "SubscriptionOut",
    "SubscriptionOutTarget",
    "SubscriptionPage",
    "SubscriptionPatch",
    "SubscriptionPatchTargetType0",
    "SubscriptionReasonIn",
    "SubscriptionReplayIn",
    "SubscriptionResumeIn",
    "SubscriptionState",
    "SuccessOut",
    "TagsIn",
    "TargetIn",
    "TaskIn",
    "TaskOut",
    "TaskPage",
    "TaskRef",
    "TaskStatus",
    "TaskTypeOut",
    "TaskTypes",
    "TenantArchiveIn",
    "TenantArchiveOrderIn",
    "TenantArchiveOut",
    "TenantArchivePhase",
    "TenantArchiveState",
    "TenantChangedOut",
    "TenantDefaultsIn",
    "TenantDefaultsOut",
    "TenantIn",
    "TenantOut",
    "TenantPage",
    "TenantPatch",
    "TenantResumeIn",
    "TenantState",
    "TenantSuspendIn",
    "TenantUseOut",
    "TestedOut",
    "TokenIn",
    "TokenIssued",
    "TokenOut",
    "TokenPage",
    "TokenPatch",
    "TriggerDelayOut",
    "TriggerIn",
    "TriggerOut",
    "TroubleSign",
    "UnitRescheduleIn",
    "UnwellHostOut",
    "UsedOut",
    "VersionOut",
    "When",
    "WhyOut",
    "WindowOut",
    "WithdrawnOut",
    "WorkerChangedOut",
    "WorkerDrainOut",
    "WorkerOut",
    "WorkerReasonIn",
    "Workers",
)

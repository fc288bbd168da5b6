"""Which right each endpoint needs, by the name of its view: the one table that says who may call what.

Whoever may change only their own is refused what belongs to others where the row is known (`usable`). An app's own
endpoints need the right to read, and those that write the right to operate. docs/roles.md is the same for people.
"""

from tasks_app.core.roles import Right

# For all who have any right: what they see is bounded by their tenant, types and lanes.
READ = {
    *("list_jobs", "read_job", "list_instances", "preview_job", "explain_job"),
    *("list_tasks", "read_task", "explain_task", "list_attempts", "list_logs"),
    "decrypt_task",  # and a right of its own, which the view asks for
    *("list_runs", "read_one_run", "list_calendars", "read_calendar", "list_campaigns", "read_campaign"),
    *("read_task_types", "read_task_type", "read_lanes", "read_workers", "read_limits", "read_hosts"),
    *("list_secrets", "list_subscriptions", "read_subscription", "list_deliveries"),
    *("list_alarm_rules", "read_alarm_rule", "list_alarm_channels", "read_alarm_channel", "read_channel_alerts"),
    *("list_incidents", "read_incident", "list_dead_letters", "group_dead_letters", "read_dead_letter"),
    *("list_all_tenants", "read_tenant", "read_tenant_use", "list_audit"),
    *("read_health", "read_service_levels", "read_forecast", "read_version"),
    # Those who run the installation see more here, and others that it works.
    *("read_safeguards", "list_safeguard_incidents", "read_installation", "read_all_sites", "list_recoveries"),
}
# Of one's own; with the right to operate, of everybody in the tenant.
SCHEDULE = {
    *("preview_draft", "create_job", "edit_job", "delete_job", "pause_job", "resume_job", "trigger_job"),
    *("skip_firing", "move_firing", "restore_firing"),
    *("create_task", "create_tasks", "cancel_task", "cancel_tasks", "retry_task", "reschedule_task"),
    *("reschedule_unit",),
}
OPERATE = {
    *("backfill_job", "backfill_jobs", "rerun_graph", "complete_task", "fail_task", "progress_task"),
    *("create_calendar", "import_calendar", "edit_calendar", "delete_calendar"),
    *("start_campaign", "change_campaign", "pause_campaign", "resume_campaign", "cancel_campaign"),
    "undo_campaign",
    *("replay_dead_letters", "discard_dead_letters", "tag_dead_letter", "try_host"),
    *("set_secret", "delete_secret", "withdraw_secret"),
    *("create_subscription", "change_subscription", "delete_subscription", "pause_subscription"),
    *("resume_subscription", "replay_subscription", "test_subscription", "add_subscription_secret"),
    *("withdraw_subscription_secrets",),
    *("create_alarm_rule", "edit_alarm_rule", "delete_alarm_rule"),
    *("create_alarm_channel", "edit_alarm_channel", "delete_alarm_channel", "test_alarm_channel"),
}
ADMINISTER = {
    *("list_members", "grant_membership", "revoke_membership"),
    *("list_tokens", "issue_token", "change_token", "revoke_token"),
}
# All tenants share it: for those who run the installation, whatever anybody is in a tenant.
PLATFORM = {
    *("pause_lane", "resume_lane", "drain_worker", "resume_worker", "limit_host", "lift_host"),
    *("force_safeguard", "forbid_safeguard", "end_safeguard"),
    *("quarantine_installation", "resume_installation", "rehearse_installation"),
    *("activate_site", "stand_by_sites"),
    *("create_tenant", "edit_tenant", "suspend_tenant", "resume_tenant"),
    *("archive_tenant", "stop_archiving_tenant", "continue_archiving_tenant"),
}
NOBODY_IS_ASKED = {"read_liveness"}

NEEDS: dict[str, Right] = {
    **dict.fromkeys(READ, Right.READ),
    **dict.fromkeys(SCHEDULE, Right.SCHEDULE),
    **dict.fromkeys(OPERATE | PLATFORM, Right.OPERATE),
    **dict.fromkeys(ADMINISTER, Right.ADMINISTER),
}


def needed(view: str, *, reads: bool) -> Right:
    return NEEDS.get(view, Right.READ if reads else Right.OPERATE)

"""Which right each page needs of somebody who works in one tenant, by the name of its address: the one table of pages.

What is not in it is closed to them, so a new page is until it is put here. Whoever has Django's permissions works in
all tenants, and each page asks for the one it needs (admin/rights.py). docs/roles.md is the same for people.
"""

from tasks_app.core.roles import Right

# What everybody has who may come in; other apps' pages ask for permissions of their own.
OPEN = {"index", "login", "logout", "password_change", "password_change_done", "jsi18n", "language", "search"}
OPEN |= {"help", "tenant", "stream", "app_list", "view_on_site", "toggle_sidebar"}

READ = {
    *("tasks_app_scheduletask_changelist", "tasks_app_scheduletask_change"),
    *("tasks_app_export", "tasks_app_operation", "tasks_app_task_events", "tasks_app_event"),
    *("tasks_app_jobdefinition_changelist", "tasks_app_jobdefinition_change"),
    *("tasks_app_calendar_changelist", "tasks_app_calendar_change"),
    *("tasks_app_campaign_changelist", "tasks_app_campaign_change"),
    *("tasks_app_dlqentry_changelist", "tasks_app_dlqentry_change"),
    *("tasks_app_graphrun_changelist", "tasks_app_graphrun_change"),
    *("tasks_app_auditentry_changelist", "tasks_app_auditentry_change"),
    *("tasks_app_saved_add", "tasks_app_saved_remove"),
    *("tasks_app_alarmrule_changelist", "tasks_app_alarmchannel_changelist", "tasks_app_alarmchannel_change"),
    *("tasks_app_alarmincident_changelist", "tasks_app_alarmincident_change"),
    *("tasks_app_subscription_changelist", "tasks_app_subscription_change"),
    "tasks_app_secret_changelist",
}
# Of one's own; with the right to operate, of everybody in the tenant.
SCHEDULE = {
    *("tasks_app_order", "tasks_app_run"),
    *("tasks_app_jobdefinition_add", "tasks_app_job_draft", "tasks_app_job_draft_of", "tasks_app_job_edit"),
    *("tasks_app_job_order", "tasks_app_job_firing", "tasks_app_job_bulk"),
}
OPERATE = {
    *("tasks_app_job_backfill", "tasks_app_graphrun_rerun", "tasks_app_campaign_order"),
    "tasks_app_undo",
    *("tasks_app_letter_order", "tasks_app_letter_run", "tasks_app_letter_tags"),
    *("tasks_app_calendar_add", "tasks_app_calendar_edit", "tasks_app_calendar_remove"),
    *("tasks_app_alarmrule_add", "tasks_app_alarmrule_change", "tasks_app_alarmrule_delete"),
    *("tasks_app_alarmchannel_add", "tasks_app_alarmchannel_edit", "tasks_app_alarmchannel_test"),
    *("tasks_app_alarmchannel_delete",),
    *("tasks_app_subscription_add", "tasks_app_subscription_edit", "tasks_app_subscription_test"),
    *("tasks_app_subscription_order",),
    *("tasks_app_secret_add", "tasks_app_secret_set", "tasks_app_secret_withdraw", "tasks_app_secret_forget"),
}
ADMINISTER = {
    *("tasks_app_membership_changelist", "tasks_app_membership_add", "tasks_app_membership_edit"),
    *("tasks_app_membership_revoke",),
    *("tasks_app_apitoken_changelist", "tasks_app_apitoken_add", "tasks_app_apitoken_edit"),
    *("tasks_app_apitoken_revoke",),
}
NEEDS: dict[str, Right] = {
    **dict.fromkeys(READ, Right.READ),
    **dict.fromkeys(SCHEDULE, Right.SCHEDULE),
    **dict.fromkeys(OPERATE, Right.OPERATE),
    **dict.fromkeys(ADMINISTER, Right.ADMINISTER),
}

"""Which right each page needs of somebody who works in one tenant, by the name of its address: the one table of pages.

What is not in it is closed to them, so a new page is until it is put here. Whoever has Django's permissions works in
all tenants, and each page asks for the one it needs (admin/rights.py). docs/roles.md is the same for people.
"""

from tasks_app.core.roles import Right

# What everybody has who may come in; other apps' pages ask for permissions of their own.
OPEN = {"index", "login", "logout", "password_change", "password_change_done", "jsi18n", "language", "search"}
OPEN |= {"help", "tenant", "stream", "app_list", "view_on_site", "toggle_sidebar"}

READ = {
    *("punctual_scheduletask_changelist", "punctual_scheduletask_change"),
    *("punctual_export", "punctual_operation", "punctual_task_events", "punctual_event"),
    *("punctual_jobdefinition_changelist", "punctual_jobdefinition_change"),
    *("punctual_calendar_changelist", "punctual_calendar_change"),
    *("punctual_campaign_changelist", "punctual_campaign_change"),
    *("punctual_dlqentry_changelist", "punctual_dlqentry_change"),
    *("punctual_graphrun_changelist", "punctual_graphrun_change"),
    *("punctual_auditentry_changelist", "punctual_auditentry_change"),
    *("punctual_saved_add", "punctual_saved_remove"),
    *("punctual_alarmrule_changelist", "punctual_alarmchannel_changelist", "punctual_alarmchannel_change"),
    *("punctual_alarmincident_changelist", "punctual_alarmincident_change"),
    *("punctual_subscription_changelist", "punctual_subscription_change"),
    "punctual_secret_changelist",
}
# Of one's own; with the right to operate, of everybody in the tenant.
SCHEDULE = {
    *("punctual_order", "punctual_run"),
    *("punctual_jobdefinition_add", "punctual_job_draft", "punctual_job_draft_of", "punctual_job_edit"),
    *("punctual_job_order", "punctual_job_firing", "punctual_job_bulk"),
}
OPERATE = {
    *("punctual_job_backfill", "punctual_graphrun_rerun", "punctual_campaign_order"),
    "punctual_undo",
    *("punctual_letter_order", "punctual_letter_run", "punctual_letter_tags"),
    *("punctual_calendar_add", "punctual_calendar_edit", "punctual_calendar_remove"),
    *("punctual_alarmrule_add", "punctual_alarmrule_change", "punctual_alarmrule_delete"),
    *("punctual_alarmchannel_add", "punctual_alarmchannel_edit", "punctual_alarmchannel_test"),
    *("punctual_alarmchannel_delete",),
    *("punctual_subscription_add", "punctual_subscription_edit", "punctual_subscription_test"),
    *("punctual_subscription_order",),
    *("punctual_secret_add", "punctual_secret_set", "punctual_secret_withdraw", "punctual_secret_forget"),
}
ADMINISTER = {
    *("punctual_membership_changelist", "punctual_membership_add", "punctual_membership_edit"),
    *("punctual_membership_revoke",),
    *("punctual_apitoken_changelist", "punctual_apitoken_add", "punctual_apitoken_edit"),
    *("punctual_apitoken_revoke",),
}
NEEDS: dict[str, Right] = {
    **dict.fromkeys(READ, Right.READ),
    **dict.fromkeys(SCHEDULE, Right.SCHEDULE),
    **dict.fromkeys(OPERATE, Right.OPERATE),
    **dict.fromkeys(ADMINISTER, Right.ADMINISTER),
}

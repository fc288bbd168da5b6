-- entry_columns: an entry e as it is hashed, by core/audit_chain.py; times in one form, whatever the session's time zone.
e.id, e.operation::text, e.actor, e.verb, e.subject, e.task_id, e.tenant, e.task_type, e.outcome, e.reason, e.detail::text,
to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.address

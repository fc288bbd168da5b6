-- audit: who did what to which subjects, why, from where, and what became of each; in the same transaction.
INSERT INTO punctual_audit_entry (operation, actor, verb, subject, task_id, outcome, reason, detail, tenant, task_type, address)
SELECT %(operation)s, %(actor)s, %(verb)s, given.subject, given.task_id, given.outcome, %(reason)s,
       coalesce(given.detail::jsonb, '{}'), given.tenant, given.task_type, %(address)s
FROM unnest(%(subjects)s::text[], %(task_ids)s::bigint[], %(outcomes)s::text[], %(details)s::text[],
            %(tenants)s::text[], %(types)s::text[])
     AS given(subject, task_id, outcome, detail, tenant, task_type)

-- audit: who did what to which subjects, why, and what became of each; in the transaction of the deed.
INSERT INTO punctual_audit_entry (operation, actor, verb, subject, task_id, outcome, reason, detail)
SELECT %(operation)s, %(actor)s, %(verb)s, given.subject, given.task_id, given.outcome, %(reason)s,
       coalesce(given.detail::jsonb, '{}')
FROM unnest(%(subjects)s::text[], %(task_ids)s::bigint[], %(outcomes)s::text[], %(details)s::text[])
     AS given(subject, task_id, outcome, detail)

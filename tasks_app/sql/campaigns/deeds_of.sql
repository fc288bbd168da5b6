-- deeds_of: what an operation did to these tasks that can be undone, and where they were before.
SELECT task_id, outcome, detail ->> 'before', (detail ->> 'was')::timestamptz, (detail ->> 'at')::timestamptz
FROM punctual_audit_entry
WHERE operation = %(operation)s::uuid AND subject = ANY (%(subjects)s::text[]) AND outcome = ANY (%(answers)s::text[])
  AND detail ? 'was'

-- undoable: whether an entry is left of what an operation moved or cancelled, and whether one says where its task was.
-- An order that is older than undo has written down nothing of that; the first thousand tell, and there may be a million.
SELECT count(*) > 0, coalesce(bool_or(had_been), FALSE)
FROM (
    SELECT detail ? 'was' AS had_been FROM punctual_audit_entry
    WHERE operation = %(operation)s::uuid AND task_id IS NOT NULL AND outcome = ANY (%(answers)s::text[])
      AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
    LIMIT 1000
) AS entry

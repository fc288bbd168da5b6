-- undoable: whether an entry is left of what an operation moved or cancelled, and whether one says where its task was.
-- An order that is older than undo has written down nothing of that.
SELECT
  EXISTS (
    SELECT FROM punctual_audit_entry
    WHERE operation = %(operation)s::uuid AND task_id IS NOT NULL AND outcome = ANY (%(answers)s::text[])
      AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
  ),
  EXISTS (
    SELECT FROM punctual_audit_entry
    WHERE operation = %(operation)s::uuid AND task_id IS NOT NULL AND outcome = ANY (%(answers)s::text[])
      AND detail ? 'was' AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
  )

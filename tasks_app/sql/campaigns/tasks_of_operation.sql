-- tasks_of_operation: the tasks to which an operation did what can be undone, in the order of the index of its entries.
SELECT task_id, subject
FROM punctual_audit_entry
WHERE operation = %(operation)s::uuid AND subject > %(after)s::text AND task_id IS NOT NULL
  AND outcome = ANY (%(answers)s::text[]) AND detail ? 'was' AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
ORDER BY subject
LIMIT %(size)s

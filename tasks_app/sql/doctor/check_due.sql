-- check_due: what is to be tried has a due moment.
SELECT t.id, t.status
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE t.due_at IS NULL AND (t.status IN ('INIT', 'FAIL') OR (t.status = 'SUCCESS' AND t.repeat_after IS NOT NULL))

-- check_over: what is finished, or under way, has no due moment.
SELECT t.id, t.status
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE t.due_at IS NOT NULL AND t.status NOT IN ('INIT', 'FAIL') AND (t.status <> 'SUCCESS' OR t.repeat_after IS NULL)

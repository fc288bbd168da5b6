-- check_live: only a current row is live.
SELECT t.id, t.status
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE NOT t.current AND (t.due_at IS NOT NULL OR t.status IN ('RUNNING', 'AWAY', 'BLOCKED', 'INIT', 'FAIL'))

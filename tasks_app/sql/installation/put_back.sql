-- put_back: some of what was put aside in a rehearsal -> due when it was due before. What somebody has moved, cancelled or
-- settled since is left as it is. Returns how many are done with.
WITH page AS MATERIALIZED (
    SELECT task, due_at FROM punctual_rehearsed ORDER BY task LIMIT %(size)s FOR UPDATE
), mine AS MATERIALIZED (
    SELECT t.id, page.due_at FROM page JOIN punctual_task t ON t.id = page.task
    WHERE t.due_at = %(never)s::timestamptz AND t.status IN ('INIT', 'FAIL')
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
), back AS (
    UPDATE punctual_task t SET due_at = mine.due_at, updated_at = clock_timestamp()
    FROM mine
    WHERE t.id = mine.id AND t.due_at = %(never)s::timestamptz AND t.status IN ('INIT', 'FAIL')
), done AS (
    DELETE FROM punctual_rehearsed r USING page WHERE r.task = page.task RETURNING r.task
)
SELECT count(*) FROM done

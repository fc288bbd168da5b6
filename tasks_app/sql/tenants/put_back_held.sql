-- put_back_held: some of what was put aside for a tenant -> due when it was due before, and late from now on. What somebody has
-- moved, cancelled or settled since is left as it is. Tasks are locked before what was kept of them, as whoever holds does, and
-- one that somebody else has locked is left for the next time. Returns how many are done with, and how many of those are due.
WITH page AS MATERIALIZED (
    SELECT task, due_at, at FROM punctual_held WHERE tenant = %(tenant)s ORDER BY task LIMIT %(size)s
), mine AS MATERIALIZED (
    SELECT t.id, page.due_at FROM page JOIN punctual_task t ON t.id = page.task
    WHERE t.due_at = %(never)s::timestamptz AND t.status IN ('INIT', 'FAIL', 'SUCCESS')
    ORDER BY t.id
    FOR NO KEY UPDATE OF t SKIP LOCKED
), back AS (
    UPDATE punctual_task t
    SET due_at = mine.due_at, allowed_at = greatest(t.allowed_at, clock_timestamp()), updated_at = clock_timestamp()
    FROM mine
    WHERE t.id = mine.id AND t.due_at = %(never)s::timestamptz AND t.status IN ('INIT', 'FAIL', 'SUCCESS')
    RETURNING t.id
), done AS (
    DELETE FROM punctual_held h USING page
    WHERE h.task = page.task AND h.at = page.at  -- not one that was put aside anew meanwhile
      AND (h.task IN (SELECT id FROM back)
           OR NOT EXISTS (SELECT FROM punctual_task t WHERE t.id = h.task AND t.due_at = %(never)s::timestamptz))
    RETURNING h.task
)
SELECT (SELECT count(*) FROM done), (SELECT count(*) FROM back)

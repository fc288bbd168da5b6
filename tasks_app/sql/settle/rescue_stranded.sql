-- rescue_stranded: the safety net for reap and lose. RUNNING rows without an unfinished batch, and AWAY rows without a
-- lease, become due again.
-- The protocol leaves no such rows. Each one is a bug or a damaged table, so the caller raises an alert.
-- Reads one range of ids, since no index has the status, and returns where it ended, or nothing after the last one.
WITH stretch AS MATERIALIZED (
    SELECT id FROM punctual_task WHERE id > %(after)s ORDER BY id LIMIT %(step)s
), stranded AS MATERIALIZED (
    SELECT t.id FROM punctual_task t
    WHERE t.id > %(after)s AND t.id <= (SELECT max(id) FROM stretch)
      AND t.status IN ('RUNNING', 'AWAY')
      AND NOT EXISTS (SELECT FROM punctual_batch b WHERE b.batch_no = t.batch_no AND b.finished_at IS NULL)
      AND NOT EXISTS (SELECT FROM punctual_away a WHERE a.task = t.id AND t.status = 'AWAY')
    ORDER BY t.id
    FOR NO KEY UPDATE OF t SKIP LOCKED
), rescued AS (
    UPDATE punctual_task t
    SET status = CASE WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END, batch_no = NULL, due_at = t.claimed_due,
        updated_at = clock_timestamp()
    FROM stranded
    WHERE t.id = stranded.id
      AND t.status IN ('RUNNING', 'AWAY')
      AND NOT EXISTS (SELECT FROM punctual_batch b WHERE b.batch_no = t.batch_no AND b.finished_at IS NULL)
      AND NOT EXISTS (SELECT FROM punctual_away a WHERE a.task = t.id AND t.status = 'AWAY')
    RETURNING t.id
)
SELECT (SELECT max(id) FROM stretch), ARRAY(SELECT id FROM rescued ORDER BY id)

-- rehearse_batch: a batch that has come to a worker in a rehearsal -> its tasks are put aside, and nothing of it is run.
-- Their due time goes to punctual_rehearsed, from where put_back takes it; until then they are due in a time that never comes.
-- The installation's row is locked: whoever ends the rehearsal waits for this, and what comes after finds nothing to do here.
WITH here AS MATERIALIZED (
    SELECT id FROM punctual_installation WHERE id = 1 AND state = 'REHEARSING' FOR SHARE
), b AS (
    UPDATE punctual_batch
    SET finished_at = clock_timestamp()
    WHERE batch_no = %(batch_no)s AND started_at IS NULL AND finished_at IS NULL AND EXISTS (SELECT FROM here)
    RETURNING batch_no, ids
), mine AS MATERIALIZED (
    SELECT t.id, t.claimed_due, b.batch_no
    FROM b JOIN punctual_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
), kept AS (
    INSERT INTO punctual_rehearsed (task, due_at) SELECT id, claimed_due FROM mine
    ON CONFLICT (task) DO UPDATE SET due_at = excluded.due_at, at = clock_timestamp()
)
UPDATE punctual_task t
SET status = CASE WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END, batch_no = NULL, due_at = %(never)s::timestamptz,
    updated_at = clock_timestamp()
FROM mine
WHERE t.id = mine.id AND t.status = 'RUNNING' AND t.batch_no = mine.batch_no
RETURNING t.id

-- return: RUNNING rows of this batch -> due again at the moment they were due, or a little later; no retry used.
-- For what was never begun (shutdown, a batch that could not be published) and what nobody may judge here.
WITH b AS (
    SELECT batch_no FROM task_batch
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
    FOR NO KEY UPDATE
), moved AS (
    UPDATE schedule_task t
    SET status = CASE WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END, batch_no = NULL,
        due_at = CASE WHEN u.delay_ms IS NULL THEN t.claimed_due
                      ELSE clock_timestamp() + u.delay_ms * interval '1 millisecond' END,
        solo = t.solo OR u.solo,
        error_code = CASE WHEN u.code = '' THEN t.error_code ELSE u.code END,
        error_msg = CASE WHEN u.code = '' THEN t.error_msg ELSE u.reason END,
        updated_at = clock_timestamp()
    FROM b, unnest(%(ids)s::bigint[], %(delays_ms)s::bigint[], %(solo)s::bool[], %(codes)s::text[],
                   %(reasons)s::text[]) AS u(id, delay_ms, solo, code, reason)
    WHERE t.id = u.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id
)
UPDATE task_batch
SET finished_at = CASE WHEN %(finish)s THEN clock_timestamp() END, run_us = %(run_us)s, lateness = %(lateness)s
FROM b
WHERE task_batch.batch_no = b.batch_no
RETURNING (SELECT count(*) FROM moved)

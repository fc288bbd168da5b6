-- return_batch: batches that were not published -> all their rows due again, and the batches finished. `limited`: they are
-- claimed by type from now on.
-- If a copy of the message was delivered after all, its start finds the batch finished and does nothing.
WITH b AS (
    UPDATE punctual_batch
    SET finished_at = clock_timestamp()
    WHERE batch_no = ANY (%(batch_nos)s::uuid[]) AND started_at IS NULL AND finished_at IS NULL
    RETURNING batch_no, ids
), mine AS MATERIALIZED (
    SELECT t.id, b.batch_no
    FROM b JOIN punctual_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)
--include back_to_due

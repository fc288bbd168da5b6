-- return_unstarted: unstarted batches of these dispatchers -> rows due again, and the batches finished.
-- For a dispatcher that died or lost its connection: some of the batches may never have been published. A published message
-- finds its batch finished and does nothing, and so does a message that a frozen dispatcher publishes later.
-- SKIP LOCKED, because the caller has shards to dispatch. A batch that is being started or returned is left to that
-- transaction. A batch with a locked row is left to its lease: finished without that row, it would leave the row RUNNING
-- forever.
WITH unstarted AS MATERIALIZED (
    SELECT batch_no, ids FROM punctual_batch
    WHERE finished_at IS NULL AND started_at IS NULL AND dispatcher = ANY (%(dispatchers)s::text[])
    FOR UPDATE SKIP LOCKED
), locked AS MATERIALIZED (
    SELECT t.id, u.batch_no
    FROM unstarted u JOIN punctual_task t ON t.id = ANY (u.ids) AND t.status = 'RUNNING' AND t.batch_no = u.batch_no
    ORDER BY t.id
    FOR NO KEY UPDATE OF t SKIP LOCKED
), b AS (
    UPDATE punctual_batch
    SET finished_at = clock_timestamp()
    FROM unstarted u
    WHERE punctual_batch.batch_no = u.batch_no AND punctual_batch.started_at IS NULL AND punctual_batch.finished_at IS NULL
      AND NOT EXISTS (
          SELECT FROM punctual_task t
          WHERE t.id = ANY (u.ids) AND t.status = 'RUNNING' AND t.batch_no = u.batch_no
            AND t.id NOT IN (SELECT id FROM locked))
    RETURNING punctual_batch.batch_no
), mine AS (
    SELECT locked.id, locked.batch_no FROM locked JOIN b ON b.batch_no = locked.batch_no
)
--include back_to_due

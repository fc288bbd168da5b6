-- return_unstarted: whatever these dispatchers claimed and nobody has started -> due again, and the batches finished.
-- For a dispatcher that died, or lost sight of what it had done: some of it may never have been published. What was
-- published finds its batch finished and does nothing; and so does what a dispatcher that was only frozen publishes later.
-- SKIP LOCKED: a batch that is just being started, or given back by another, is left to them.
WITH unstarted AS MATERIALIZED (
    SELECT batch_no FROM task_batch
    WHERE finished_at IS NULL AND started_at IS NULL AND dispatcher = ANY (%(dispatchers)s::text[])
    FOR UPDATE SKIP LOCKED
), b AS (
    UPDATE task_batch
    SET finished_at = clock_timestamp()
    FROM unstarted
    WHERE task_batch.batch_no = unstarted.batch_no AND task_batch.started_at IS NULL AND task_batch.finished_at IS NULL
    RETURNING task_batch.batch_no, ids
--include back_to_due

-- return_batch: batches that were not published -> all their rows due again, and the batches finished. `limited`: from now
-- on they are claimed by type.
-- If a copy of the message got through after all, its start finds the batch finished and does nothing.
WITH b AS (
    UPDATE task_batch
    SET finished_at = clock_timestamp()
    WHERE batch_no = ANY (%(batch_nos)s::uuid[]) AND started_at IS NULL AND finished_at IS NULL
    RETURNING batch_no, ids
--include back_to_due

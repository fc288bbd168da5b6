b AS (
    -- The batch row first: unfinished, so nobody reaped it; locked, so nobody can until we commit.
    SELECT batch_no, started_at, worker FROM task_batch
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
    FOR NO KEY UPDATE
)

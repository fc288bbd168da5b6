b AS MATERIALIZED (
    -- The batch row first: unfinished, so nobody reaped it; locked, so nobody can until we commit.
    SELECT batch_no, started_at, allowed_at, worker FROM punctual_batch
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
    FOR NO KEY UPDATE
), mine AS MATERIALIZED (
    -- Then the task rows in order of id, only those still RUNNING under this batch; none if the batch is not ours.
    -- `spot` is where the row lies now. We hold its lock, so it stays there, and need not look into the index again.
    -- What was given for a row is found by width_bucket(), its position in the sorted ids: a binary search, where a join with
    -- unnest() can turn into a thousand scans of a thousand values, since PostgreSQL expects next to no RUNNING rows.
    SELECT t.ctid AS spot, t.id
    FROM punctual_task t
    WHERE EXISTS (SELECT FROM b)
      AND t.id = ANY (%(ids)s::bigint[]) AND t.status = 'RUNNING' AND t.batch_no = %(batch_no)s
    ORDER BY t.id
    FOR NO KEY UPDATE
)

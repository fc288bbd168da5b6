-- heartbeat: extend the run lease, and return the ids that no longer belong to the batch.
-- No row: the batch was reaped, and all of it is lost.
-- The commit does not wait for the disk, since a settle of the batch may be waiting for it. A crash undoes one extension at
-- most, and a lease outlasts two.
WITH b AS (
    UPDATE punctual_batch
    SET lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
      AND (SELECT set_config('synchronous_commit', 'off', TRUE)) = 'off'
    RETURNING batch_no
)
SELECT array(
    SELECT wanted.id
    FROM unnest(%(ids)s::bigint[]) AS wanted(id)
    LEFT JOIN punctual_task t ON t.id = wanted.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    WHERE t.id IS NULL
)
FROM b

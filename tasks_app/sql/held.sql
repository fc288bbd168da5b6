--include batch
, mine AS MATERIALIZED (
    -- Then the task rows in order of id, only those still RUNNING under this batch. `place` is a row's position in
    -- the sorted ids and in what was given for them: a binary search, where a join with unnest() can turn into a
    -- thousand scans of a thousand values, since the planner expects next to no RUNNING rows.
    SELECT t.id, width_bucket(t.id, %(ids)s::bigint[]) AS place
    FROM b
    JOIN schedule_task t ON t.id = ANY (%(ids)s::bigint[]) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)

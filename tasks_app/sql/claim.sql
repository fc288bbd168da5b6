-- claim: due rows of some shards and lanes -> RUNNING, grouped into new batches of one lane and type each.
-- SKIP LOCKED lets many dispatchers work side by side; due_at = NULL takes a row out of the due index.
-- The locking sub-select is inside a materialised CTE, so LIMIT holds whatever plan the UPDATE gets.
-- A solo task is a batch of its own. A lane gets no more batches than it is allowed, the longest overdue first.
WITH due AS MATERIALIZED (
    SELECT w.lane, w.allowed, d.id, d.task_type, d.solo, d.due_at
    FROM unnest(%(lanes)s::text[], %(rows)s::int[], %(allowed)s::int[]) AS w(lane, rows, allowed)
    CROSS JOIN unnest(%(shards)s::smallint[]) AS s(shard)
    CROSS JOIN LATERAL (
        SELECT t.id, t.task_type, t.solo, t.due_at
        FROM schedule_task t
        WHERE t.shard = s.shard AND t.lane = w.lane AND t.due_at <= (SELECT clock_timestamp())
        ORDER BY t.due_at
        LIMIT w.rows
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS d
), numbered AS (
    -- Partitioned by a number, since sorting thousands of rows by text costs more than all the rest; two types with
    -- the same number get smaller batches, never a common one.
    SELECT due.*,
           (row_number() OVER (PARTITION BY hashtextextended(due.lane || due.task_type, due.solo::int)
                               ORDER BY due.due_at) - 1)
           / CASE WHEN due.solo THEN 1 ELSE coalesce(pace.size, %(unseen)s) END AS part
    FROM due
    LEFT JOIN unnest(%(types)s::text[], %(sizes)s::int[]) AS pace(task_type, size) USING (task_type)
), batch AS MATERIALIZED (
    SELECT gen_random_uuid() AS batch_no, ranked.*
    FROM (
        SELECT lane, allowed, task_type, array_agg(id) AS ids,
               row_number() OVER (PARTITION BY lane ORDER BY min(due_at)) AS place
        FROM numbered
        GROUP BY lane, allowed, task_type, solo, part
    ) AS ranked
    WHERE place <= allowed
), flat AS MATERIALIZED (
    -- One array of ids, sorted, so that the UPDATE walks the primary key whatever the planner thinks of their number,
    -- and finds each row's batch by binary search.
    SELECT array_agg(id ORDER BY id) AS ids, array_agg(batch_no ORDER BY id) AS batch_nos
    FROM (SELECT batch_no, unnest(ids) AS id FROM batch) AS one
), moved AS (
    UPDATE schedule_task t
    SET status = 'RUNNING', batch_no = flat.batch_nos[width_bucket(t.id, flat.ids)], claimed_due = t.due_at,
        due_at = NULL, updated_at = clock_timestamp()
    FROM flat
    WHERE t.id = ANY (flat.ids) AND t.status IN ('INIT', 'FAIL', 'SUCCESS')
)
INSERT INTO task_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until)
SELECT batch_no, task_type, lane, ids, %(dispatcher)s, clock_timestamp(),
       clock_timestamp() + make_interval(secs => %(lease)s)
FROM batch
RETURNING batch_no::text, lane, task_type, cardinality(ids)

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
), kind AS (
    -- The ids of a lane and type in the order in which they are due.
    SELECT lane, allowed, task_type, solo, array_agg(id) AS ids, array_agg(due_at) AS dues
    FROM (SELECT * FROM due ORDER BY due_at) AS sorted
    GROUP BY lane, allowed, task_type, solo
), batch AS MATERIALIZED (
    SELECT gen_random_uuid() AS batch_no, ranked.*
    FROM (
        SELECT kind.lane, kind.allowed, kind.task_type, kind.ids[part : part + size.rows - 1] AS ids,
               row_number() OVER (PARTITION BY kind.lane ORDER BY kind.dues[part]) AS place
        FROM kind
        LEFT JOIN unnest(%(types)s::text[], %(sizes)s::int[]) AS pace(task_type, size) USING (task_type)
        CROSS JOIN LATERAL (SELECT CASE WHEN kind.solo THEN 1 ELSE coalesce(pace.size, %(unseen)s) END) AS size(rows)
        CROSS JOIN LATERAL generate_series(1, cardinality(kind.ids), size.rows) AS part
    ) AS ranked
    WHERE place <= allowed
), moved AS (
    UPDATE schedule_task t
    SET status = 'RUNNING', batch_no = batch.batch_no, claimed_due = t.due_at, due_at = NULL,
        updated_at = clock_timestamp()
    FROM batch
    WHERE t.id = ANY (batch.ids) AND t.status IN ('INIT', 'FAIL', 'SUCCESS')
)
INSERT INTO task_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until)
SELECT batch_no, task_type, lane, ids, %(dispatcher)s, clock_timestamp(),
       clock_timestamp() + make_interval(secs => %(lease)s)
FROM batch
RETURNING batch_no::text, lane, task_type, cardinality(ids)

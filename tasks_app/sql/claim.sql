-- claim: due rows of some shards and lanes -> RUNNING, grouped into new batches of one lane and type each.
-- SKIP LOCKED lets many dispatchers work side by side; due_at = NULL takes a row out of the due index.
-- The locking sub-select is inside a materialised CTE, so LIMIT holds whatever plan the UPDATE gets.
-- A solo task is a batch of its own. A lane gets no more batches than it is allowed, the longest overdue first.
WITH due AS MATERIALIZED (
    SELECT w.lane_no, d.spot, d.id, d.task_type, d.solo, d.due_at
    FROM unnest(%(lanes)s::text[], %(rows)s::int[]) WITH ORDINALITY AS w(lane, rows, lane_no)
    CROSS JOIN unnest(%(shards)s::smallint[]) AS s(shard)
    CROSS JOIN LATERAL (
        -- `spot` is where the row lies. We hold its lock, so it stays there, and the UPDATE needs no index to find it.
        SELECT t.ctid AS spot, t.id, t.task_type, t.solo, t.due_at
        FROM schedule_task t
        WHERE t.shard = s.shard AND t.lane = w.lane AND t.due_at <= (SELECT clock_timestamp())
        ORDER BY t.due_at
        LIMIT w.rows
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS d
), kind AS (
    -- Ties in order of id, which is spread over the shards: else a herd would empty one shard after the other, and the
    -- share of each shard would make its last batches smaller and smaller.
    SELECT lane_no, task_type, solo, array_agg(id ORDER BY due_at, id) AS ids,
           array_agg(spot ORDER BY due_at, id) AS spots, array_agg(due_at ORDER BY due_at, id) AS dues
    FROM due
    GROUP BY lane_no, task_type, solo
), batch AS MATERIALIZED (
    SELECT gen_random_uuid() AS batch_no, (%(lanes)s::text[])[lane_no] AS lane, task_type, ids, spots
    FROM (
        SELECT kind.lane_no, kind.task_type, kind.ids[part : part + size.rows - 1] AS ids,
               kind.spots[part : part + size.rows - 1] AS spots,
               row_number() OVER (PARTITION BY kind.lane_no ORDER BY kind.dues[part]) AS place
        FROM kind
        LEFT JOIN unnest(%(types)s::text[], %(sizes)s::int[]) AS pace(task_type, size) USING (task_type)
        CROSS JOIN LATERAL (SELECT CASE WHEN kind.solo THEN 1 ELSE coalesce(pace.size, %(unseen)s) END) AS size(rows)
        CROSS JOIN LATERAL generate_series(1, cardinality(kind.ids), size.rows) AS part
    ) AS ranked
    WHERE place <= (%(allowed)s::int[])[lane_no]
), flat AS MATERIALIZED (
    -- All of it in one row, so that the UPDATE reads no join whose size the planner would have to guess.
    SELECT array_agg(spot) AS spots, array_agg(id ORDER BY id) AS ids, array_agg(batch_no ORDER BY id) AS batch_nos
    FROM (SELECT batch_no, unnest(ids) AS id, unnest(spots) AS spot FROM batch) AS one
), moved AS (
    UPDATE schedule_task t
    SET status = 'RUNNING', batch_no = (SELECT batch_nos FROM flat)[width_bucket(t.id, (SELECT ids FROM flat))],
        claimed_due = t.due_at, due_at = NULL, updated_at = clock_timestamp()
    WHERE t.ctid = ANY ((SELECT spots FROM flat)::tid[]) AND t.status IN ('INIT', 'FAIL', 'SUCCESS')
)
INSERT INTO task_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until)
SELECT batch_no, task_type, lane, ids, %(dispatcher)s, clock_timestamp(),
       clock_timestamp() + make_interval(secs => %(lease)s)
FROM batch
RETURNING batch_no::text, lane, task_type, cardinality(ids)

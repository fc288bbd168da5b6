-- claim_limited: due rows of types that have a limit -> RUNNING, as many of each as its limit allows now.
-- The caller holds the locks of the types' rows in punctual_type_limit, so nobody else is counting at the same time.
-- Not by shard: a limited type belongs to one beat as a whole.
WITH due AS MATERIALIZED (
    SELECT w.lane_no, d.spot, d.id, d.task_type, d.solo, d.due_at
    FROM unnest(%(gate_types)s::text[], %(gate_lanes)s::int[], %(gate_rows)s::int[]) AS w(task_type, lane_no, rows)
    CROSS JOIN LATERAL (
        SELECT t.ctid AS spot, t.id, t.task_type, t.solo, t.due_at
        FROM punctual_task t
        WHERE t.limited AND t.task_type = w.task_type AND t.lane = (%(lanes)s::text[])[w.lane_no]
          AND t.due_at <= (SELECT clock_timestamp())
        ORDER BY t.due_at
        LIMIT w.rows
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS d
--include batches_of_due

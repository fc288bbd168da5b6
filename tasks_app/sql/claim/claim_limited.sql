-- claim_limited: due rows of types that have a limit -> RUNNING, as many of each type as its limit allows now.
-- The caller holds the locks of the types' rows in punctual_type_limit, so no other beat counts at the same time.
-- Not by shard, because a limited type belongs to one beat as a whole. Held rows are skipped, as in claim, and so are tasks
-- of suspended tenants: hold_limited holds them.
WITH wanted AS MATERIALIZED (
    SELECT w.task_type, w.lane_no, w.rows, (%(lanes)s::text[])[w.lane_no] AS lane,
           coalesce((SELECT i.held_before FROM punctual_installation i WHERE (%(lanes)s::text[])[w.lane_no] = ANY (i.held_lanes)),
                    '-infinity') AS since
    FROM unnest(%(gate_types)s::text[], %(gate_lanes)s::int[], %(gate_rows)s::int[]) AS w(task_type, lane_no, rows)
    WHERE NOT EXISTS (SELECT FROM punctual_installation i WHERE i.state = 'QUARANTINED' OR i.site IS DISTINCT FROM %(site)s)
), due AS MATERIALIZED (
    SELECT w.lane_no, d.spot, d.id, d.task_type, d.solo, d.due_at
    FROM wanted w
    CROSS JOIN LATERAL (
        SELECT t.ctid AS spot, t.id, t.task_type, t.solo, t.due_at
        FROM punctual_task t
        WHERE t.limited AND t.task_type = w.task_type AND t.lane = w.lane AND t.wait_at >= w.since
          AND t.wait_at <= (SELECT clock_timestamp()) AND t.tenant <> ALL (%(suspended)s::text[])
        ORDER BY t.wait_at
        LIMIT w.rows
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS d
--include claim.batches
--include limited_told

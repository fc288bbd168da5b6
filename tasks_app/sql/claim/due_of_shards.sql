-- What is due in some shards and lanes, locked: at its entry in the timetable, or apart. Shared by claim and claim_in_order; the
-- reasons are there.
WITH wanted AS (
    SELECT lane, rows, lane_no, since_id, clock_timestamp() + %(ahead)s * interval '1 s' until,
           greatest(to_timestamp(since), (SELECT held_before FROM punctual_installation WHERE lane = ANY (held_lanes))) since
    FROM unnest(%(lanes)s::text[], %(rows)s::int[], %(since)s::float8[], %(ids)s::bigint[]) WITH ORDINALITY
         w(lane, rows, since, since_id, lane_no)
    WHERE NOT EXISTS (SELECT FROM punctual_installation WHERE state = 'QUARANTINED' OR site IS DISTINCT FROM %(site)s)
), due AS (
    SELECT w.lane_no, d.*
    FROM wanted w
    CROSS JOIN (
        SELECT h.shard, p.passed FROM unnest(%(shards)s::smallint[], %(fences)s::bigint[]) h(shard, fence)
        LEFT JOIN punctual_timetable p ON p.shard = h.shard AND noted_at <= now()
        WHERE NOT EXISTS (SELECT FROM punctual_shard_lease l WHERE l.shard = h.shard AND l.fence > h.fence)
    ) s, LATERAL (
        -- `spot` is where the row lies. We hold its lock, so it stays there, and the UPDATE needs no index to find it.
        SELECT * FROM (
            SELECT s.shard line, ctid spot, id, task_type, solo, due_at
            FROM punctual_task
            WHERE shard = s.shard AND lane = w.lane
              AND (entry_at, id) >= (greatest(w.since, (s.passed ->> w.lane)::timestamptz), w.since_id) AND entry_at <= w.until
              AND due_at IS NOT NULL AND wait_at IS NULL
            ORDER BY entry_at, id
            LIMIT w.rows
            FOR NO KEY UPDATE SKIP LOCKED
        ) entry
        UNION ALL
        SELECT * FROM (
            SELECT ~s.shard, ctid, id, task_type, solo, due_at
            FROM punctual_task
            WHERE shard = s.shard AND lane = w.lane AND NOT limited AND wait_at BETWEEN w.since AND w.until
            ORDER BY wait_at
            LIMIT w.rows
            FOR NO KEY UPDATE SKIP LOCKED
        ) apart
    ) d

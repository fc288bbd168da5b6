-- What is due in some shards and lanes, locked. Shared by claim and claim_in_order; the reasons are there.
WITH wanted AS MATERIALIZED (
    SELECT w.lane, w.rows, w.lane_no,
           greatest(to_timestamp(w.since), (SELECT i.held_before FROM punctual_installation i WHERE w.lane = ANY (i.held_lanes))) AS since
    FROM unnest(%(lanes)s::text[], %(rows)s::int[], %(since)s::float8[]) WITH ORDINALITY AS w(lane, rows, since, lane_no)
    WHERE NOT EXISTS (SELECT FROM punctual_installation i WHERE i.state = 'QUARANTINED' OR i.site IS DISTINCT FROM %(site)s)
), due AS MATERIALIZED (
    SELECT w.lane_no, d.spot, d.id, d.task_type, d.solo, d.due_at
    FROM wanted w
    CROSS JOIN (
        SELECT held.shard FROM unnest(%(shards)s::smallint[], %(fences)s::bigint[]) AS held(shard, fence)
        WHERE NOT EXISTS (SELECT FROM punctual_shard_lease l WHERE l.shard = held.shard AND l.fence > held.fence)
    ) AS s
    CROSS JOIN LATERAL (
        -- `spot` is where the row lies. We hold its lock, so it stays there, and the UPDATE needs no index to find it.
        SELECT t.ctid AS spot, t.id, t.task_type, t.solo, t.due_at
        FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = w.lane AND NOT t.limited
          AND t.due_at >= w.since AND t.due_at <= (SELECT clock_timestamp() + make_interval(secs => %(ahead)s))
        ORDER BY t.due_at
        LIMIT w.rows
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS d

-- pulse_lanes: of each lane whether it is held, by a person or a safeguard; its live slots; how many tasks it ran in a second of the
-- last five minutes; and how long the oldest task has been due that came after the lane was served. What has a limit waits on
-- purpose, and canaries are nobody's.
SELECT l.lane,
       EXISTS (SELECT FROM punctual_lane_pause p WHERE p.lane = l.lane)
           OR EXISTS (SELECT FROM punctual_curb c WHERE c.kind = 'lane' AND c.target = l.lane) AS held,
       (SELECT coalesce(sum(n.slots), 0) FROM punctual_node n
        WHERE n.kind = 'WORKER' AND l.lane = ANY (n.lanes)
          AND n.seen_at > clock_timestamp() - make_interval(secs => %(node_ttl)s)) AS slots,
       (SELECT coalesce(sum(p.ok + p.failed - p.returned), 0) / 300.0 FROM punctual_pulse p
        WHERE p.lane = l.lane AND p.minute >= date_trunc('minute', now()) - interval '5 minutes')::float8 AS rate,
       (SELECT extract(epoch FROM clock_timestamp() - min(first.late_from))::float8
        FROM unnest(%(shards)s::smallint[]) AS s(shard)
--include passed_in
        CROSS JOIN LATERAL (
            (SELECT greatest(t.entry_at, t.allowed_at) AS late_from FROM punctual_task t
            WHERE t.shard = s.shard AND t.lane = l.lane AND t.task_type <> %(canary)s
              AND t.entry_at >= greatest(to_timestamp(l.since), (p.passed ->> l.lane)::timestamptz)
              AND t.entry_at <= (SELECT clock_timestamp()) AND t.due_at IS NOT NULL AND t.wait_at IS NULL
            ORDER BY t.entry_at
            LIMIT 1)
            UNION ALL
            (SELECT greatest(t.wait_at, t.allowed_at) FROM punctual_task t
            WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited AND t.task_type <> %(canary)s
              AND t.wait_at >= to_timestamp(l.since) AND t.wait_at <= (SELECT clock_timestamp())
            ORDER BY t.wait_at
            LIMIT 1)
        ) AS first) AS oldest_seconds
FROM unnest(%(lanes)s::text[], %(since)s::float8[]) AS l(lane, since)

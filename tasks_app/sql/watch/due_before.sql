-- due_before: the tenants of what waits in a lane of these shards without a limit and is due before a moment; the first ones.
SELECT d.tenant
FROM unnest(%(shards)s::smallint[]) AS s(shard)
--include passed_in
CROSS JOIN LATERAL (
    (SELECT t.tenant, t.entry_at AS due_at
    FROM punctual_task t
    WHERE t.shard = s.shard AND t.lane = %(lane)s
      AND t.entry_at >= coalesce((p.passed ->> %(lane)s)::timestamptz, '-infinity') AND t.entry_at < %(before)s::timestamptz
      AND t.due_at IS NOT NULL AND t.wait_at IS NULL
    ORDER BY t.entry_at
    LIMIT %(most)s)
    UNION ALL
    (SELECT t.tenant, t.wait_at
    FROM punctual_task t
    WHERE t.shard = s.shard AND t.lane = %(lane)s AND NOT t.limited AND t.wait_at < %(before)s::timestamptz
    ORDER BY t.wait_at
    LIMIT %(most)s)
) AS d
ORDER BY d.due_at
LIMIT %(most)s

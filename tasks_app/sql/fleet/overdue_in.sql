-- overdue_in: how many tasks of a lane were due some time ago, whatever held them back since; up to a bound in each shard.
-- What waits for its limit is not among them, and no canary.
SELECT coalesce(sum(few.overdue), 0)::bigint
FROM unnest(%(shards)s::smallint[]) AS s(shard)
--include passed_in
CROSS JOIN LATERAL (
    SELECT count(*) AS overdue FROM (
        (SELECT FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = %(lane)s AND t.task_type <> %(canary)s
          AND t.entry_at >= coalesce((p.passed ->> %(lane)s)::timestamptz, '-infinity')
          AND t.entry_at <= (SELECT clock_timestamp()) - make_interval(secs => %(late)s)
          AND t.due_at IS NOT NULL AND t.wait_at IS NULL
        ORDER BY t.entry_at
        LIMIT %(bound)s)
        UNION ALL
        (SELECT FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = %(lane)s AND NOT t.limited
          AND t.wait_at <= (SELECT clock_timestamp()) - make_interval(secs => %(late)s) AND t.task_type <> %(canary)s
        ORDER BY t.wait_at
        LIMIT %(bound)s)
        LIMIT %(bound)s
    ) AS counted
) AS few

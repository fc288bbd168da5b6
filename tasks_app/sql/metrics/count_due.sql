-- count_due: per lane how many tasks could start now, how many could have some time ago, and for how long the first has
-- been waiting. As status_lanes counts: up to a bound for each shard, and `cut` says that there are more; no canaries; and
-- what waits for its limit is due, but not late.
SELECT l.lane, coalesce(sum(s.due), 0)::bigint, coalesce(sum(s.overdue), 0)::bigint,
       coalesce(bool_or(s.due > %(bound)s), FALSE),
       coalesce(extract(epoch FROM clock_timestamp() - min(s.oldest)), 0)::float8
FROM unnest(%(lanes)s::text[]) WITH ORDINALITY AS l(lane, place)
LEFT JOIN punctual_lane_resume r ON r.lane = l.lane
CROSS JOIN LATERAL (
    SELECT of_shard.* FROM unnest(%(shards)s::smallint[]) AS s(shard)
--include passed_in
    CROSS JOIN LATERAL (
        SELECT count(*) AS due, min(few.late_from) AS oldest,
               count(*) FILTER (WHERE few.late_from <= (SELECT clock_timestamp()) - make_interval(secs => %(late)s)) AS overdue
        FROM (
            (SELECT greatest(t.entry_at, t.allowed_at, r.resumed_at) AS late_from, t.entry_at AS due_at FROM punctual_task t
            WHERE t.shard = s.shard AND t.lane = l.lane AND t.due_at IS NOT NULL AND t.wait_at IS NULL
              AND t.entry_at >= coalesce((p.passed ->> l.lane)::timestamptz, '-infinity') AND t.entry_at <= (SELECT clock_timestamp())
              AND t.task_type <> %(canary)s
            ORDER BY t.entry_at
            LIMIT %(bound)s + 1)
            UNION ALL
            (SELECT greatest(t.wait_at, t.allowed_at, r.resumed_at), t.wait_at FROM punctual_task t
            WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited AND t.wait_at <= (SELECT clock_timestamp())
              AND t.task_type <> %(canary)s
            ORDER BY t.wait_at
            LIMIT %(bound)s + 1)
            ORDER BY due_at
            LIMIT %(bound)s + 1
        ) AS few
    ) AS of_shard
    UNION ALL
    SELECT of_type.* FROM unnest(%(types)s::text[]) AS g(task_type)
    CROSS JOIN LATERAL (
        SELECT count(*) AS due, NULL::timestamptz AS oldest, 0::bigint AS overdue
        FROM (
            SELECT FROM punctual_task t
            WHERE t.limited AND t.task_type = g.task_type AND t.lane = l.lane
              AND t.wait_at <= (SELECT clock_timestamp())
            ORDER BY t.wait_at
            LIMIT %(bound)s + 1
        ) AS few
    ) AS of_type
) AS s
GROUP BY l.lane, l.place
ORDER BY l.place

-- status_load: how much comes due in each of the next minutes, read off the timetable and the index of what waits apart.
-- Each shard (or limited type) and lane is read up to a bound; `cut` says that one had more, and then the counts are too small.
SELECT floor(extract(epoch FROM due_at - now.at) / 60)::int AS minute, count(*), bool_or(cut)
FROM (SELECT clock_timestamp() AS at) AS now
CROSS JOIN unnest(%(lanes)s::text[]) AS l(lane)
CROSS JOIN LATERAL (
    SELECT of_shard.* FROM unnest(%(shards)s::smallint[]) AS s(shard)
    CROSS JOIN LATERAL (
        SELECT due_at, row_number() OVER () > %(bound)s AS cut
        FROM (
            (SELECT t.entry_at AS due_at FROM punctual_task t
            WHERE t.shard = s.shard AND t.lane = l.lane AND t.due_at IS NOT NULL AND t.wait_at IS NULL
              AND t.entry_at > now.at AND t.entry_at < now.at + make_interval(mins => %(minutes)s)
            ORDER BY t.entry_at
            LIMIT %(bound)s + 1)
            UNION ALL
            (SELECT t.wait_at FROM punctual_task t
            WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited
              AND t.wait_at > now.at AND t.wait_at < now.at + make_interval(mins => %(minutes)s)
            ORDER BY t.wait_at
            LIMIT %(bound)s + 1)
            ORDER BY due_at
            LIMIT %(bound)s + 1
        ) AS few
    ) AS of_shard
    UNION ALL
    SELECT of_type.* FROM unnest(%(types)s::text[]) AS g(task_type)
    CROSS JOIN LATERAL (
        SELECT due_at, row_number() OVER () > %(bound)s AS cut
        FROM (
            SELECT t.wait_at AS due_at FROM punctual_task t
            WHERE t.limited AND t.task_type = g.task_type AND t.lane = l.lane
              AND t.wait_at > now.at AND t.wait_at < now.at + make_interval(mins => %(minutes)s)
            ORDER BY t.wait_at
            LIMIT %(bound)s + 1
        ) AS few
    ) AS of_type
) AS scheduled
GROUP BY minute
ORDER BY minute

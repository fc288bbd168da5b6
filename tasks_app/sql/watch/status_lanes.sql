-- status_lanes: per lane what is due now and since when; batches that wait and that run, the tasks in them, and batches
-- whose lease ran out longer ago than the reaper needs.
-- Due rows are counted up to a bound for each shard; `cut` says that there are more. Canaries are nobody's tasks.
-- Nothing is overdue from before it was scheduled or its lane was resumed.
-- What waits for its limit is due, but not late: that it waits is what the limit is for.
SELECT l.lane,
       d.due, d.cut, d.oldest_seconds,
       coalesce(b.waiting, 0), coalesce(b.running, 0), coalesce(b.tasks_claimed, 0), coalesce(b.tasks_running, 0),
       coalesce(b.lost, 0), b.lost_seconds
FROM unnest(%(lanes)s::text[]) WITH ORDINALITY AS l(lane, place)
LEFT JOIN punctual_lane_resume r ON r.lane = l.lane
CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.due), 0)::bigint AS due, coalesce(bool_or(s.due > %(bound)s), FALSE) AS cut,
           extract(epoch FROM clock_timestamp() - min(s.oldest))::float8 AS oldest_seconds
    FROM (
        SELECT of_shard.* FROM unnest(%(shards)s::smallint[]) AS s(shard)
--include passed_in
        CROSS JOIN LATERAL (
            SELECT count(*) AS due, min(few.late_from) AS oldest
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
            SELECT count(*) AS due, NULL::timestamptz AS oldest
            FROM (
                SELECT FROM punctual_task t
                WHERE t.limited AND t.task_type = g.task_type AND t.lane = l.lane
                  AND t.wait_at <= (SELECT clock_timestamp())
                ORDER BY t.wait_at
                LIMIT %(bound)s + 1
            ) AS few
        ) AS of_type
    ) AS s
) AS d
LEFT JOIN (
    SELECT lane, count(*) FILTER (WHERE started_at IS NULL) AS waiting,
           count(*) FILTER (WHERE started_at IS NOT NULL) AS running,
           sum(cardinality(ids)) FILTER (WHERE started_at IS NULL) AS tasks_claimed,
           sum(cardinality(ids) - ok - failed) FILTER (WHERE started_at IS NOT NULL) AS tasks_running,
           count(*) FILTER (WHERE lease_until < clock_timestamp() - make_interval(secs => %(patience)s)) AS lost,
           extract(epoch FROM clock_timestamp() - min(lease_until))::float8 AS lost_seconds
    FROM punctual_batch WHERE finished_at IS NULL GROUP BY lane
) AS b ON b.lane = l.lane
ORDER BY l.place

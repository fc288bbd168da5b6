-- Tasks of some lanes that were due before a moment, as (id, lane, due_at, job, fire_time), at most `most` of each shard and
-- limited type; without canaries. Shared by those who count them and those who change them: `overdue` is read by whoever includes it.
overdue AS (
    SELECT found.* FROM unnest(%(lanes)s::text[]) AS l(lane)
    CROSS JOIN unnest(%(shards)s::smallint[]) AS s(shard)
--include passed_in
    CROSS JOIN LATERAL (
        (SELECT t.id, t.lane, t.due_at, t.job, t.fire_time FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = l.lane AND t.task_type <> %(canary)s
          AND t.entry_at >= coalesce((p.passed ->> l.lane)::timestamptz, '-infinity') AND t.entry_at < %(before)s::timestamptz
          AND t.due_at IS NOT NULL AND t.wait_at IS NULL
        ORDER BY t.entry_at
        LIMIT %(most)s)
        UNION ALL
        (SELECT t.id, t.lane, t.due_at, t.job, t.fire_time FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited AND t.wait_at < %(before)s::timestamptz
          AND t.task_type <> %(canary)s
        ORDER BY t.wait_at
        LIMIT %(most)s)
        ORDER BY due_at
        LIMIT %(most)s
    ) AS found
    UNION ALL
    SELECT found.* FROM unnest(%(types)s::text[]) AS g(task_type)
    CROSS JOIN unnest(%(lanes)s::text[]) AS l(lane)
    CROSS JOIN LATERAL (
        SELECT t.id, t.lane, t.due_at, t.job, t.fire_time FROM punctual_task t
        WHERE t.limited AND t.task_type = g.task_type AND t.lane = l.lane AND t.wait_at < %(before)s::timestamptz
        ORDER BY t.wait_at
        LIMIT %(most)s
    ) AS found
)

-- events_near: which rows of the outbox tell of one task, among those of some stretches of time; and whether one of these had more
-- rows than are looked at. No index knows the tasks of a row, since everybody who writes one would pay for it; but a window knows
-- which rows are of its time. What is in no window yet lies behind the last one.
WITH stretch AS (
    SELECT since, until FROM unnest(%(sinces)s::timestamptz[], %(untils)s::timestamptz[]) AS s(since, until)
), part AS MATERIALIZED (
    SELECT s.since, s.until, min(w.min_id) AS first, max(w.max_id) AS last
    FROM stretch s JOIN punctual_outbox_window w ON w.min_at <= s.until AND w.max_at >= s.since
    GROUP BY s.since, s.until
    UNION ALL
    SELECT since, until, coalesce((SELECT max_id FROM punctual_outbox_window ORDER BY no DESC LIMIT 1), 0), 9223372036854775807
    FROM stretch
), looked AS MATERIALIZED (
    SELECT o.id, o.created_at, o.place, o.task_ids @> ARRAY[%(task)s::bigint] OR o.task_id = %(task)s::bigint AS tells
    FROM part p CROSS JOIN LATERAL (
        SELECT id, created_at, task_ids, task_id, row_number() OVER (ORDER BY id) AS place
        FROM (SELECT id, created_at, task_ids, task_id FROM punctual_outbox
              WHERE id >= p.first AND id <= p.last AND created_at >= p.since AND created_at <= p.until
              ORDER BY id LIMIT %(most)s) AS next
    ) AS o
)
SELECT coalesce(max(place) >= %(most)s, FALSE), array_agg(DISTINCT id) FILTER (WHERE tells),
       min(created_at) FILTER (WHERE tells), max(created_at) FILTER (WHERE tells)
FROM looked

-- read_pulse: the batches that ended between two moments, added to the minutes of their lanes and types. Returns what is new,
-- by type. Neither canaries nor backfills count. What was told of tasks that were away is an outcome as any other, but says
-- nothing about the time that a run takes: it is counted apart, too.
-- How late tasks started is kept of the lanes that are asked for: not beyond the bucket `most`, since what is later than that was due
-- before its lane was served; and not of types that have a limit, whose tasks wait on purpose.
WITH fresh AS MATERIALIZED (
    SELECT date_trunc('minute', b.finished_at) AS minute, b.lane, b.task_type, b.ok, b.failed, b.run_us,
           CASE WHEN w.most >= 0
                     AND NOT EXISTS (SELECT FROM punctual_type_limit l WHERE l.task_type = b.task_type
                                     AND (l.rate IS NOT NULL OR l.max_running IS NOT NULL))
                     AND NOT EXISTS (SELECT FROM punctual_curb c WHERE c.kind = 'type' AND c.target = b.task_type AND c.of_tenant = '')
                THEN b.lateness[1 : w.most + 1] ELSE '{}' END AS lateness, 0 AS returned
    FROM punctual_any_batch b
    LEFT JOIN unnest(%(lanes)s::text[], %(most)s::int[]) AS w(lane, most) ON w.lane = b.lane
    WHERE b.finished_at > to_timestamp(%(since)s) AND b.finished_at <= to_timestamp(%(until)s)
      AND b.ok + b.failed > 0 AND b.lane <> 'backfill' AND b.task_type <> %(canary)s
    UNION ALL
    SELECT date_trunc('minute', o.at), o.lane, o.task_type, o.ok, o.failed, 0, '{}', o.ok + o.failed
    FROM punctual_away_outcome o
    WHERE o.at > to_timestamp(%(since)s) AND o.at <= to_timestamp(%(until)s) AND o.lane <> 'backfill'
), bucket AS (
    SELECT minute, lane, task_type, h.bucket, sum(h.count)::int AS tasks
    FROM fresh CROSS JOIN LATERAL unnest(lateness) WITH ORDINALITY AS h(count, bucket)
    GROUP BY minute, lane, task_type, h.bucket
), histogram AS (
    SELECT minute, lane, task_type, array_agg(tasks ORDER BY bucket) AS lateness FROM bucket GROUP BY minute, lane, task_type
), added AS MATERIALIZED (
    SELECT f.minute, f.lane, f.task_type, sum(f.ok)::int AS ok, sum(f.failed)::int AS failed, sum(f.run_us)::bigint AS run_us,
           sum(f.returned)::int AS returned
    FROM fresh f GROUP BY f.minute, f.lane, f.task_type
), put AS (
    INSERT INTO punctual_pulse AS p (minute, lane, task_type, ok, failed, run_us, lateness, returned)
    SELECT a.minute, a.lane, a.task_type, a.ok, a.failed, a.run_us, coalesce(h.lateness, '{}'), a.returned
    FROM added a LEFT JOIN histogram h USING (minute, lane, task_type)
    ON CONFLICT (minute, lane, task_type) DO UPDATE
    SET ok = p.ok + excluded.ok, failed = p.failed + excluded.failed, run_us = p.run_us + excluded.run_us,
        returned = p.returned + excluded.returned,
        lateness = ARRAY(SELECT coalesce(u.a, 0) + coalesce(u.b, 0)
                         FROM unnest(p.lateness, excluded.lateness) WITH ORDINALITY AS u(a, b, place) ORDER BY u.place)
)
SELECT task_type, sum(ok)::bigint, sum(failed)::bigint FROM added GROUP BY task_type

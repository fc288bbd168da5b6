-- tell_missed: firings of these schedules passed before anybody planned them; told for each job whose firings they were.
-- A job counts those after its own beginning; one that began later, or has ended, has missed nothing. What somebody has
-- skipped or moved was not missed.
WITH passed AS MATERIALIZED (
    SELECT p.place, array_agg(p.at) AS times FROM unnest(%(of)s::int[], %(times)s::timestamptz[]) AS p(place, at) GROUP BY p.place
), missed AS (
    SELECT j.tenant, j.task_type, j.id, m.count,
           jsonb_build_object('name', j.name, 'count', m.count, 'first', m.first, 'last', m.last, 'catch_up', j.catch_up) AS data,
           (row_number() OVER (PARTITION BY j.tenant, j.task_type ORDER BY j.id) - 1) / %(in_row)s AS part
    FROM unnest(%(places)s::int[], %(cursors)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[]) AS f(place, cursor, low, high)
    JOIN passed USING (place)
    CROSS JOIN LATERAL (
        SELECT d.* FROM punctual_job d
        WHERE d.cursor = f.cursor AND d.id > f.low AND d.id <= f.high AND d.status = 'ACTIVE'
        ORDER BY d.id
        LIMIT %(page)s
    ) AS j
    CROSS JOIN LATERAL (
        SELECT count(*), min(t.at) AS first, max(t.at) AS last FROM unnest(passed.times) AS t(at)
        WHERE t.at > j.plan_from AND (j.end_at IS NULL OR t.at <= j.end_at)
          AND CASE WHEN j.overridden
                   THEN NOT EXISTS (SELECT FROM punctual_firing_override o WHERE o.job = j.id AND o.fire_time = t.at) ELSE TRUE END
    ) AS m
    WHERE m.count > 0
)
INSERT INTO punctual_outbox (tenant, event, task_type, count, jobs, payloads)
SELECT tenant, 'job.missed', task_type, count(*), array_agg(id ORDER BY id), jsonb_agg(data ORDER BY id)
FROM missed
GROUP BY tenant, task_type, part

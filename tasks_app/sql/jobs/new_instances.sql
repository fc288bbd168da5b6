-- The rows of plan_instances and plan_new_instances; instances_made ends it.
WITH created AS (
    INSERT INTO punctual_task (tenant, task_type, biz_key, idem_key, token, job, fire_time, status, execute_time, due_at,
                               entry_at, allowed_at, lane, shard, limited, max_retry, expires_after, payload)
    SELECT j.tenant, j.task_type, j.id || ':' || f.label, j.id || ':' || f.label,
           md5(%(salt)s::text || j.id || ':' || f.label)::uuid, j.id, f.fire,
           CASE j.overlap WHEN 'allow' THEN 'INIT' ELSE 'BLOCKED' END, coalesce(f.moved, f.fire),
           one.due_at, CASE WHEN one.due_at >= clock.now AND l.home IS NULL THEN one.due_at END,
           CASE WHEN f.wanted AND coalesce(f.moved, f.fire + make_interval(secs => j.jitter_offset)) < clock.now
                THEN clock.now + make_interval(secs => CASE WHEN %(backfill)s::bool THEN f.place / 1e6 ELSE 0 END) END,
           coalesce(%(lane)s::text, j.lane), coalesce(l.home, j.shard), l.home IS NOT NULL, j.max_retry,
           CASE WHEN NOT %(backfill)s::bool
                THEN j.expires_after + make_interval(secs => CASE WHEN f.moved IS NULL THEN j.jitter_offset ELSE 0 END) END,
           j.payload
    FROM
--include writers_clock
         ,
         unnest(%(cursors)s::bigint[], %(fires)s::timestamptz[], %(labels)s::text[], %(missed)s::int[],
                %(late)s::bool[], %(wanted)s::bool[], %(lows)s::bigint[], %(highs)s::bigint[], %(moved)s::timestamptz[])
         WITH ORDINALITY AS f(cursor, fire, label, missed, late, wanted, low, high, moved, place)
    CROSS JOIN LATERAL (
        SELECT * FROM punctual_job d
        WHERE
--rows
        ORDER BY d.id
        LIMIT %(page)s
    ) AS j
    CROSS JOIN LATERAL (
        SELECT CASE WHEN j.overlap <> 'allow' THEN NULL
               WHEN %(backfill)s::bool THEN clock.now + make_interval(secs => f.place / 1e6)
               ELSE coalesce(f.moved, f.fire + make_interval(secs => j.jitter_offset)) END AS due_at
    ) AS one
    LEFT JOIN unnest(%(limited)s::text[], %(homes)s::smallint[]) AS l(task_type, home) ON l.task_type = j.task_type
    WHERE (f.wanted OR f.missed = 0
           OR CASE j.catch_up WHEN 'latest' THEN f.missed = 1 WHEN 'all' THEN f.missed <= j.catch_up_most ELSE f.late END
              AND (f.late OR f.fire >= clock_timestamp() - make_interval(secs => j.catch_up_window)))
      AND CASE WHEN j.overridden AND f.moved IS NULL
               THEN NOT EXISTS (SELECT FROM punctual_firing_override o WHERE o.job = j.id AND o.fire_time = f.fire) ELSE TRUE END
      -- Only what should have fired already can be over.
      AND CASE WHEN f.fire < clock.now
               THEN NOT EXISTS (SELECT FROM punctual_past p WHERE p.job = j.id AND p.fire_time = f.fire
                                AND p.biz_key = j.id || ':' || f.label) ELSE TRUE END
    ORDER BY (j.id || ':' || f.label) COLLATE "C"

-- plan_instances: a task for each job of these schedules and each of their firings; the unit is `job:fire_time`.
-- An instance that is there already is left alone: a planner that is run again, or beside another, fires nothing twice.
-- Jobs are looked up by their cursor in order of id; LIMIT keeps the look-up a look-up in a table of millions.
-- `wanted` is a firing that runs in any case: it was planned before, or a person wants it after a pause.
-- A job that has had its runs leaves its schedule, so that it is not looked at again. Expiry begins after the jitter.
-- In the order of their keys: an index takes neighbours a fifth cheaper. Runs are counted only where somebody counts.
-- A type with a limit has a shard of its own, and its rows say that they are limited, as everywhere.
-- What a person wants after a pause or an edit is late from now on. What nobody planned in time is late from its firing.
-- If one of the jobs has children (`rooted`), the ids come too: their families are planned next, by plan_families.
-- `moved` is when a firing runs that somebody has moved: then exactly, without jitter. Of firings that somebody has skipped or
-- moved the planner makes nothing; only jobs that have such are asked for them.
-- Tokens are made from one random salt: PostgreSQL's own opens a random device for each.
-- An instance of a job that cares about overlap waits for its turn, which is decided when its time comes. What was missed, or
-- is wanted though its time has passed, queues whatever the policy; and what is wanted stands behind those who wait already.
-- `backfill`: its instances are due now, in the order in which they are given, and don't expire: somebody wants
-- them, however late. They queue behind all others. `lane`: instead of the job's.
WITH created AS (
    INSERT INTO punctual_task (tenant, task_type, biz_key, idem_key, token, job, fire_time, status, execute_time, due_at,
                               allowed_at, lane, shard, limited, max_retry, expires_after, payload)
    SELECT j.tenant, j.task_type, j.id || ':' || f.label, j.id || ':' || f.label,
           md5(%(salt)s::text || j.id || ':' || f.label)::uuid, j.id, f.fire,
           CASE j.overlap WHEN 'allow' THEN 'INIT' ELSE 'BLOCKED' END, coalesce(f.moved, f.fire),
           CASE WHEN j.overlap <> 'allow' THEN NULL
                WHEN %(backfill)s::bool THEN clock.now + make_interval(secs => f.place / 1e6)
                ELSE coalesce(f.moved, f.fire + make_interval(secs => j.jitter_offset)) END,
           CASE WHEN f.wanted AND coalesce(f.moved, f.fire + make_interval(secs => j.jitter_offset)) < clock.now
                THEN clock.now + make_interval(secs => CASE WHEN %(backfill)s::bool THEN f.place / 1e6 ELSE 0 END) END,
           coalesce(%(lane)s::text, j.lane), coalesce(l.home, j.shard), l.home IS NOT NULL, j.max_retry,
           CASE WHEN NOT %(backfill)s::bool
                THEN j.expires_after + make_interval(secs => CASE WHEN f.moved IS NULL THEN j.jitter_offset ELSE 0 END) END,
           j.payload
    FROM (SELECT clock_timestamp() AS now) AS clock,
         unnest(%(cursors)s::bigint[], %(fires)s::timestamptz[], %(labels)s::text[], %(missed)s::int[],
                %(wanted)s::bool[], %(lows)s::bigint[], %(highs)s::bigint[], %(moved)s::timestamptz[]) WITH ORDINALITY
         AS f(cursor, fire, label, missed, wanted, low, high, moved, place)
    CROSS JOIN LATERAL (
        SELECT * FROM punctual_job d
        WHERE
--rows
        ORDER BY d.id
        LIMIT %(page)s
    ) AS j
    LEFT JOIN unnest(%(limited)s::text[], %(homes)s::smallint[]) AS l(task_type, home) ON l.task_type = j.task_type
    WHERE (f.wanted OR f.missed = 0
           OR CASE j.catch_up WHEN 'latest' THEN f.missed = 1 WHEN 'all' THEN f.missed <= j.catch_up_most ELSE FALSE END
              AND f.fire >= clock_timestamp() - make_interval(secs => j.catch_up_window))
      AND CASE WHEN j.overridden AND f.moved IS NULL
               THEN NOT EXISTS (SELECT FROM punctual_firing_override o WHERE o.job = j.id AND o.fire_time = f.fire) ELSE TRUE END
      -- Only what should have fired already can be over.
      AND CASE WHEN f.fire < clock.now
               THEN NOT EXISTS (SELECT FROM punctual_past p WHERE p.job = j.id AND p.fire_time = f.fire
                                AND p.biz_key = j.id || ':' || f.label) ELSE TRUE END
    ORDER BY (j.id || ':' || f.label) COLLATE "C"
    ON CONFLICT DO NOTHING
    RETURNING tenant, task_type, biz_key, id, coalesce(due_at, allowed_at, execute_time) AS due_at, replaces, job, fire_time,
              idem_key, shard, allowed_at, execute_time
), counted AS (
    UPDATE punctual_job d
    SET runs = d.runs + 1, cursor = CASE WHEN d.runs + 1 < d.max_runs THEN d.cursor END
    FROM created WHERE %(counted)s AND d.id = created.job AND d.max_runs IS NOT NULL
), turns AS (
    INSERT INTO punctual_turn (task, job, shard, at, policy)
    SELECT c.id, c.job, d.shard,
           greatest(CASE WHEN c.execute_time = c.fire_time THEN c.fire_time + make_interval(secs => d.jitter_offset)
                         ELSE c.execute_time END, c.allowed_at),
           CASE WHEN %(backfill)s::bool THEN 'backfill'
                WHEN c.allowed_at IS NOT NULL OR c.fire_time = ANY (%(caught_up)s::timestamptz[]) THEN 'queue_all'
                ELSE d.overlap END
    FROM created c
    CROSS JOIN LATERAL (
        SELECT d.shard, d.jitter_offset, d.overlap FROM punctual_job d WHERE d.id = c.job AND d.overlap <> 'allow' LIMIT 1
    ) AS d
    WHERE %(turns)s
--include created
SELECT shard, count(*), date_part('epoch', min(due_at)), array_agg(id) FILTER (WHERE %(backfill)s::bool OR %(rooted)s::bool),
       array_agg(biz_key::text) FILTER (WHERE %(backfill)s::bool)
FROM created
GROUP BY shard

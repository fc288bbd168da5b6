-- firing_groups: how many jobs fire by each schedule, in each lane and with each delay: what a forecast of all firings needs.
-- A start, an end or a number of runs matters only if it falls within the day that is looked at; nearly no job has one.
-- Delays are cut to whole minutes where the schedule fires at whole minutes, and an interval of whole minutes is told by its
-- phase with the delay: so thousands of jobs with a delay or a phase of their own are few groups, and no count changes.
-- A job that others wait for brings all of them along, each in its own lane: they count where it fires.
-- Jobs with the same cursor have the same schedule, so they are counted by its number first: to sort all jobs by the words of
-- their schedules took most of the time.
-- The largest groups first; `of` is how many jobs there are in all, with those that LIMIT leaves out.
WITH RECURSIVE family(first, job) AS (
    SELECT id, id FROM punctual_job
    WHERE has_children AND NOT has_parents AND (status = 'ACTIVE' OR status = 'PAUSED' AND paused_until < %(ends)s::timestamptz)
    UNION
    SELECT f.first, e.job FROM family f
    CROSS JOIN LATERAL (SELECT p.job FROM punctual_job_parent p WHERE p.parent = f.job ORDER BY p.job LIMIT 100000) AS e
), kin AS MATERIALIZED (
    SELECT f.first, j.lane, count(*) AS jobs FROM family f
    CROSS JOIN LATERAL (SELECT d.lane FROM punctual_job d WHERE d.id = f.job LIMIT 1) AS j
    GROUP BY f.first, j.lane
), counted AS MATERIALIZED (
    SELECT min(d.id) AS id, d.lane, b.delay, b.first, b.last, b.runs, count(*) AS jobs
    FROM (
        SELECT id, cursor, cron, every, run_at, lane, jitter_offset, start_at, end_at, max_runs - runs AS left_runs, has_children
        FROM punctual_job
        WHERE status = 'ACTIVE'
          AND (cursor IS NOT NULL OR run_at >= %(begins)s::timestamptz - interval '1 day' AND run_at < %(ends)s::timestamptz)
        UNION ALL
        -- A pause that ends by itself within the day.
        SELECT id, cursor, cron, every, run_at, lane, jitter_offset, greatest(start_at, paused_until), end_at, max_runs - runs,
               has_children
        FROM punctual_job
        WHERE paused_until < %(ends)s::timestamptz AND paused_until IS NOT NULL AND status = 'PAUSED' AND run_at IS NULL
          AND NOT has_parents
    ) AS d
    CROSS JOIN LATERAL (
        SELECT CASE WHEN d.jitter_offset > 0 AND d.every = 0 AND d.run_at IS NULL
                     AND (d.cron LIKE '0 %%' OR cardinality(string_to_array(d.cron, ' ')) <> 6)
                    THEN d.jitter_offset / 60 * 60
                    ELSE d.jitter_offset END AS delay,
               CASE WHEN d.start_at > %(begins)s::timestamptz - make_interval(secs => d.jitter_offset) THEN d.start_at END AS first,
               CASE WHEN d.end_at < %(ends)s::timestamptz THEN d.end_at END AS last,
               CASE WHEN d.left_runs < 172800 THEN d.left_runs END AS runs
    ) AS b
    GROUP BY d.cursor, CASE WHEN d.cursor IS NULL OR d.has_children THEN d.id END, d.lane, b.delay, b.first, b.last, b.runs
)
SELECT g.cron, g.timezone, g.dst_gap, g.dst_repeat, g.every, g.phase, g.at, g.calendar, g.on_day_off, g.lane,
       g.delay, g.first, g.last, g.runs, sum(g.jobs)::int AS jobs, (sum(sum(g.jobs)) OVER ())::bigint AS of
FROM (
    SELECT j.cron, j.timezone, j.dst_gap, j.dst_repeat, j.every,
           CASE WHEN f.folds THEN (j.phase + c.delay) / 60 * 60 %% j.every ELSE j.phase END AS phase,
           date_trunc('minute', j.run_at + make_interval(secs => c.delay)) AS at,
           coalesce(j.calendar, 0) AS calendar, j.on_day_off, coalesce(kin.lane, c.lane) AS lane,
           c.jobs * coalesce(kin.jobs, 1) AS jobs,
           CASE WHEN f.folds OR j.run_at IS NOT NULL THEN 0 ELSE c.delay END AS delay,
           c.first, c.last, c.runs
    FROM counted c
    JOIN punctual_job j ON j.id = c.id
    CROSS JOIN LATERAL (
        SELECT j.every > 0 AND j.every %% 60 = 0 AND j.calendar IS NULL AND num_nulls(c.first, c.last, c.runs) = 3 AS folds) AS f
    LEFT JOIN kin ON kin.first = j.id
) AS g
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
ORDER BY 15 DESC, g.cron, g.every, g.phase
LIMIT %(most)s

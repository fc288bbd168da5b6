-- moved_firings: single firings that somebody has skipped or moved, from or to the day that is looked at; by lane, how many jobs
-- fire then: those that wait for the job come along.
WITH RECURSIVE moved AS MATERIALIZED (
    SELECT o.job, o.moved_to, o.fire_time + make_interval(secs => j.jitter_offset) AS runs_at, j.lane, j.has_children
    FROM punctual_firing_override o
    CROSS JOIN LATERAL (
        SELECT lane, jitter_offset, has_children FROM punctual_job WHERE id = o.job AND status = 'ACTIVE' LIMIT 1) AS j
    WHERE o.fire_time >= %(begins)s::timestamptz - interval '1 day' AND o.fire_time < %(ends)s::timestamptz
       OR o.moved_to >= %(begins)s::timestamptz AND o.moved_to < %(ends)s::timestamptz
    LIMIT %(most)s
), family(first, job) AS (
    SELECT DISTINCT job, job FROM moved WHERE has_children
    UNION
    SELECT f.first, e.job FROM family f
    CROSS JOIN LATERAL (SELECT p.job FROM punctual_job_parent p WHERE p.parent = f.job ORDER BY p.job LIMIT 100000) AS e
), kin AS MATERIALIZED (
    SELECT f.first, j.lane, count(*) AS jobs FROM family f
    CROSS JOIN LATERAL (SELECT d.lane FROM punctual_job d WHERE d.id = f.job LIMIT 1) AS j
    GROUP BY f.first, j.lane
)
SELECT coalesce(kin.lane, moved.lane), moved.runs_at, moved.moved_to, coalesce(kin.jobs, 1)::int
FROM moved LEFT JOIN kin ON kin.first = moved.job

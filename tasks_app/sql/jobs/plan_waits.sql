-- plan_waits: these new instances wait for those of their parents, in the same run: the same label, `job:label`. A parent that
-- has none there is not part of the run: somebody triggered a job below it. One that is over already may be in the past.
INSERT INTO punctual_wait (task, parent)
SELECT t.id, p.id
FROM (SELECT clock_timestamp() AS now) AS clock, unnest(%(ids)s::bigint[]) AS one(id)
CROSS JOIN LATERAL (
    SELECT id, job, fire_time, substr(biz_key, length(job::text) + 2) AS label FROM punctual_task WHERE id = one.id LIMIT 1
) AS t
CROSS JOIN LATERAL (SELECT e.parent FROM punctual_job_parent e WHERE e.job = t.job ORDER BY e.parent LIMIT 100000) AS e
CROSS JOIN LATERAL (
    SELECT coalesce(
        (SELECT r.id FROM punctual_task r
         WHERE r.biz_key = e.parent || ':' || t.label AND r.job = e.parent AND r.current LIMIT 1),
        CASE WHEN t.fire_time < clock.now
             THEN (SELECT r.id FROM punctual_past r WHERE r.job = e.parent AND r.fire_time = t.fire_time
                   AND r.biz_key = e.parent || ':' || t.label AND r.current LIMIT 1) END) AS id
) AS p
WHERE p.id IS NOT NULL

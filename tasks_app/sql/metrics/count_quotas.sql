-- count_quotas: how much of its quotas each tenant has used by the last count of the beats, 1 being all of it; of those without
-- a series of their own, the most of any. Only those with such a quota are looked at, up to a bound, in an index of nothing else.
SELECT CASE WHEN few.name = ANY (%(named)s::text[]) THEN few.name ELSE %(other)s END, used.quota, max(used.share)
FROM (
    SELECT name, tasks, max_tasks, jobs, max_jobs FROM punctual_tenant
    WHERE max_tasks IS NOT NULL OR max_jobs IS NOT NULL
    ORDER BY name
    LIMIT %(bound)s
) AS few
CROSS JOIN LATERAL (
    VALUES ('max_tasks', coalesce(few.tasks::float8 / nullif(few.max_tasks, 0), CASE few.max_tasks WHEN 0 THEN 1 END)),
           ('max_jobs', coalesce(few.jobs::float8 / nullif(few.max_jobs, 0), CASE few.max_jobs WHEN 0 THEN 1 END))
) AS used(quota, share)
WHERE used.share IS NOT NULL
GROUP BY 1, 2

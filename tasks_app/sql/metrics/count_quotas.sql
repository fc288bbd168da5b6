-- count_quotas: how much of its quotas each tenant has used by the last count of the beats, 1 being all of it; of those without
-- a series of their own, the most of any. Only those with such a quota are looked at, up to a bound, in an index of nothing else;
-- what changes from second to second, only of those that used something of it in this hour or the one before.
SELECT CASE WHEN found.name = ANY (%(named)s::text[]) THEN found.name ELSE %(other)s END, found.quota, max(found.share)
FROM (
    SELECT few.name, used.quota, used.share
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
    UNION ALL
    SELECT lately.tenant, lately.quota, coalesce(lately.last::float8 / nullif(lately.most, 0), 1)
    FROM (
        SELECT tenant, quota, last, most FROM punctual_quota_use
        WHERE hour >= date_trunc('hour', now(), 'UTC') - interval '1 hour'
          AND last > 0 AND quota NOT IN ('max_tasks', 'max_jobs')
        LIMIT %(bound)s
    ) AS lately
) AS found(name, quota, share)
WHERE found.share IS NOT NULL
GROUP BY 1, 2

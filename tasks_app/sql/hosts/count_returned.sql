-- count_returned: so many tasks of a batch were sent back since their hosts are unwell, about as many as wait for them. Returns whether
-- each of these hosts still is; one that is not there is well.
WITH mine AS MATERIALIZED (
    SELECT e.id, a.tasks
    FROM unnest(%(tenants)s::text[], %(hosts)s::text[], %(tasks)s::int[]) AS a(tenant, host, tasks)
    JOIN punctual_host_health e ON e.tenant = a.tenant AND e.host = a.host
    ORDER BY e.id
    FOR UPDATE OF e
)
UPDATE punctual_host_health e SET returned = least(e.returned + mine.tasks, 1000000000) FROM mine WHERE e.id = mine.id
RETURNING e.tenant, e.host, e.unwell_since IS NOT NULL

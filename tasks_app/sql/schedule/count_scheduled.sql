-- How many of `created` there are, for tenants with a quota for that: a row for each statement, so that nobody waits for anybody.
-- The brace closes `created`.
), scheduled AS (
    INSERT INTO punctual_schedule_count (tenant, tasks)
    SELECT c.tenant, count(*)
    FROM created c
    WHERE EXISTS (SELECT FROM punctual_tenant q WHERE q.schedules_per_second IS NOT NULL)
      AND c.tenant = ANY (ARRAY(SELECT q.name FROM punctual_tenant q WHERE q.schedules_per_second IS NOT NULL))
    GROUP BY c.tenant

-- scheduled_lately: how many tasks each tenant that has a quota for it has made in the last seconds.
SELECT q.name, q.schedules_per_second, (
    SELECT coalesce(sum(c.tasks), 0)::bigint FROM punctual_schedule_count c
    WHERE c.tenant = q.name AND c.at > (SELECT clock_timestamp() - make_interval(secs => %(window)s)))
FROM punctual_tenant q
WHERE q.schedules_per_second IS NOT NULL

-- over_quota: of these tenants, those that may not have everything they ask for, or not in the clear, and why.
SELECT q.name, q.at_limit, q.max_tasks, q.tasks, q.max_payload_bytes, q.closed, q.schedules_per_second, lately.tasks,
       lately.leave, q.encrypted
FROM punctual_tenant q
LEFT JOIN LATERAL (
    SELECT coalesce(sum(c.tasks), 0)::bigint AS tasks,
           ceil(extract(epoch FROM min(c.at) - clock_timestamp()) + %(window)s)::int AS leave
    FROM punctual_schedule_count c
    WHERE c.tenant = q.name AND c.at > (SELECT clock_timestamp() - make_interval(secs => %(window)s))
) AS lately ON q.schedules_per_second IS NOT NULL
WHERE q.name = ANY (%(names)s::text[])
  AND (q.at_limit OR q.max_payload_bytes IS NOT NULL OR q.encrypted OR q.closed OR q.schedules_per_second IS NOT NULL)

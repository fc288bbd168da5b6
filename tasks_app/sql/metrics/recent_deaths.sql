-- recent_deaths: the dead letters between two numbers by type and tenant, and the newest number there is.
SELECT d.task_type, d.tenant, count(*), NULL::bigint
FROM punctual_dead_letter d
WHERE d.id > %(after)s AND d.id <= %(upto)s
GROUP BY d.task_type, d.tenant
UNION ALL
SELECT '', '', 0, (SELECT coalesce(max(id), 0) FROM punctual_dead_letter)

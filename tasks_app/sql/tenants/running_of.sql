-- running_of: how many tasks of these tenants other workers have begun, or are away: from the batches that are not over.
SELECT found.tenant, count(*)
FROM (
    SELECT t.tenant FROM punctual_batch b
    JOIN punctual_task t ON t.id = ANY (b.ids) AND t.batch_no = b.batch_no AND t.status = 'RUNNING'
    WHERE b.finished_at IS NULL AND b.started_at IS NOT NULL AND b.batch_no IS DISTINCT FROM %(but)s::uuid
    UNION ALL
    SELECT t.tenant FROM punctual_away a JOIN punctual_task t ON t.id = a.task AND t.status = 'AWAY'
) AS found
WHERE found.tenant = ANY (%(tenants)s::text[])
GROUP BY found.tenant

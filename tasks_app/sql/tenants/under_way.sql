-- under_way: how many tasks of a tenant a worker has, or somebody else: from the batches that are not over, and from what is away.
SELECT (SELECT count(*) FROM punctual_batch b
        JOIN punctual_task t ON t.id = ANY (b.ids) AND t.batch_no = b.batch_no AND t.status = 'RUNNING'
        WHERE b.finished_at IS NULL AND t.tenant = %(tenant)s)
     + (SELECT count(*) FROM punctual_away a JOIN punctual_task t ON t.id = a.task AND t.status = 'AWAY'
        WHERE t.tenant = %(tenant)s)

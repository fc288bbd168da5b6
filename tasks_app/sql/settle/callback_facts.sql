-- callback_facts: of these instances, the names of their jobs and the times that they stand for. Once a batch of callbacks,
-- and only if it has instances of jobs.
SELECT t.id, j.name, t.fire_time
FROM punctual_task t LEFT JOIN punctual_job j ON j.id = t.job
WHERE t.id = ANY (%(ids)s::bigint[])

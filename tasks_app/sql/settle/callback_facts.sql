-- callback_facts: of these instances, the names of their jobs and the times that they stand for. Once a batch of callbacks,
-- and only if it has instances of jobs. Each job is looked up by itself: joined freely, many jobs would be read as a whole.
SELECT t.id, (SELECT j.name FROM punctual_job j WHERE j.id = t.job), t.fire_time
FROM punctual_task t
WHERE t.id = ANY (%(ids)s::bigint[])

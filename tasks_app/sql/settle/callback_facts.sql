-- callback_facts: the job names and fire times of these runs, once per batch of callbacks, and only if it has runs of jobs.
-- Each job is read by itself, because a free join would read many jobs as a whole.
SELECT t.id, (SELECT j.name FROM punctual_job j WHERE j.id = t.job), t.fire_time
FROM punctual_task t
WHERE t.id = ANY (%(ids)s::bigint[])

-- job_options: those of these jobs that have a time-out or delays before retries of their own, or a place in a graph. Once a
-- batch, and only if it has instances of jobs: joined to the tasks it would be paid for each of them.
SELECT id, timeout, backoff, has_parents, has_children FROM punctual_job
WHERE id = ANY (%(jobs)s::bigint[]) AND (timeout IS NOT NULL OR backoff IS NOT NULL OR has_parents OR has_children)

-- job_options: those of these jobs that have a time-out or delays before retries of their own, that care about overlap, or that
-- have a place in a graph, or had one. Once a batch, and only if it has instances of jobs: joined to the tasks it would be paid for each.
-- Most jobs have none of it: an index has those that do, and they alone are read (punctual_job_own).
SELECT id, timeout, backoff, overlap <> 'allow', has_parents, has_children, linked_at IS NOT NULL FROM punctual_job
WHERE id = ANY (%(jobs)s::bigint[])
  AND (timeout IS NOT NULL OR backoff IS NOT NULL OR overlap <> 'allow' OR has_parents OR has_children OR linked_at IS NOT NULL)

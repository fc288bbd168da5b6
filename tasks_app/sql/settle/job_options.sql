-- job_options: those of these jobs that have their own timeout or retry delays, an overlap rule, or a current or former
-- place in a graph. Once per batch, and only if it has runs of jobs: joined to the tasks, the cost would be per task.
-- Most jobs have none of these, so an index has those that do (punctual_job_own), and only they are read.
SELECT id, timeout, backoff, overlap <> 'allow', has_parents, has_children, linked_at IS NOT NULL FROM punctual_job
WHERE id = ANY (%(jobs)s::bigint[])
  AND (timeout IS NOT NULL OR backoff IS NOT NULL OR overlap <> 'allow' OR has_parents OR has_children OR linked_at IS NOT NULL)

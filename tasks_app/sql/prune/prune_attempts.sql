-- prune_attempts: failed tries of rolling tasks past their keep, in a small step. Their task stays, so it can't take them
-- along as others do. Attempts come in order of time, so the walk ends where they are young, and starts over next time.
-- The last one stays as long as the task has not succeeded: by it the task is found among those that fail.
WITH stretch AS (
    SELECT id, task_id, finished_at FROM punctual_attempt
    WHERE id > %(after)s ORDER BY id LIMIT %(step)s
), gone AS (
    DELETE FROM punctual_attempt a USING stretch s, punctual_task t
    WHERE a.id = s.id AND t.id = s.task_id AND t.repeat_after IS NOT NULL
      AND s.finished_at < now() - make_interval(secs => %(keep)s)
      AND (t.status = 'SUCCESS' OR EXISTS (
          SELECT FROM punctual_attempt later WHERE later.task_id = s.task_id AND later.id > s.id))
    RETURNING a.id
)
SELECT (SELECT max(id) FROM stretch HAVING min(finished_at) < now() - make_interval(secs => %(keep)s)),
       (SELECT count(*) FROM gone)

-- retries_waiting: about how many retries of each tenant and type wait for their time, guessed from some pages of the table. Not those that wait
-- on purpose: in a lane that somebody has paused, or of a type with a limit of its own.
SELECT t.tenant, t.task_type, count(*)
FROM punctual_task t TABLESAMPLE SYSTEM (%(percent)s)
WHERE t.due_at IS NOT NULL AND t.status = 'FAIL' AND t.attempt > 0
  AND t.lane <> ALL (ARRAY(SELECT p.lane FROM punctual_lane_pause p))
  AND NOT EXISTS (SELECT FROM punctual_type_limit l WHERE l.task_type = t.task_type
                  AND (l.rate IS NOT NULL OR l.max_running IS NOT NULL))
GROUP BY t.tenant, t.task_type

-- retries_waiting: about how many retries of each type wait for their time, guessed from some pages of the table.
SELECT task_type, count(*)
FROM punctual_task TABLESAMPLE SYSTEM (%(percent)s)
WHERE due_at IS NOT NULL AND status = 'FAIL' AND attempt > 0
GROUP BY task_type

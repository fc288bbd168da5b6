-- insert_told_task: insert_task, and what is told of it.
WITH created AS (
--include new_row
--include unless_taken
RETURNING tenant, task_type, biz_key, id, due_at, replaces, job, fire_time, idem_key
--include created
SELECT id, date_part('epoch', due_at) FROM created

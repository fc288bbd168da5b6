-- insert_told_alike: insert_alike, and what is told of them.
WITH created AS (
--include new_alike
--include unless_taken
RETURNING tenant, task_type, biz_key, id, due_at, replaces, job, fire_time, idem_key
--include created
SELECT biz_key, id, date_part('epoch', due_at) FROM created

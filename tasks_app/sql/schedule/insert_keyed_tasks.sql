-- insert_keyed_tasks: insert_tasks for rows with an idem_key: one whose idem_key is taken is left out as well.
-- Apart from it, since then PostgreSQL asks every unique index of every row.
WITH created AS (
--include new_rows
ON CONFLICT DO NOTHING
RETURNING tenant, task_type, biz_key, id, due_at, replaces, job, fire_time, idem_key
--include count_scheduled
--include created
SELECT tenant, task_type, biz_key, id, date_part('epoch', due_at) FROM created

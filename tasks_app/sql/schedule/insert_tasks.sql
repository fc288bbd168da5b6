-- insert_tasks: new rows, INIT and due at their time. A unit that is taken is left out, not an error: a violation
-- would end the caller's transaction. Rows come sorted by unit, so that two callers can't deadlock.
WITH created AS (
--include new_rows
ON CONFLICT (biz_key, task_type, tenant) WHERE current DO NOTHING
RETURNING tenant, task_type, biz_key, id, due_at, replaces, job, fire_time, idem_key
--include count_scheduled
--include created
SELECT tenant, task_type, biz_key, id, date_part('epoch', due_at) FROM created

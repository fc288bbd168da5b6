-- insert_told_tasks: insert_tasks, and what is told of them.
--include new_units
--include created
SELECT tenant, task_type, biz_key, id, date_part('epoch', due_at) FROM created

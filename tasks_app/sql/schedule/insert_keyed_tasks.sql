-- insert_keyed_tasks: insert_tasks for rows with an idem_key: one whose idem_key is taken is left out as well.
-- Apart from it, since then PostgreSQL asks every unique index of every row.
--include new_rows
ON CONFLICT DO NOTHING
RETURNING tenant, task_type, biz_key, id, date_part('epoch', due_at)

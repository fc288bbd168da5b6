-- added_since: the tasks that came after a number; for whoever restored to when it was the last.
SELECT t.id, t.tenant, t.task_type, t.biz_key, t.status FROM punctual_any_task t
WHERE t.id > %(after)s::int8 ORDER BY t.id LIMIT %(most)s::int8

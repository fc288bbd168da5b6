-- insert_waits: these tasks wait for those.
INSERT INTO punctual_wait (task, parent)
SELECT u.task, u.parent FROM unnest(%(tasks)s::bigint[], %(parents)s::bigint[]) AS u(task, parent)
ORDER BY u.task, u.parent
ON CONFLICT DO NOTHING

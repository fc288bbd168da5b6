-- roll_to: rows that got a next time in this transaction wait for the next time of their timer instead.
UPDATE punctual_task t
SET due_at = u.due
FROM unnest(%(ids)s::bigint[], %(was)s::timestamptz[], %(dues)s::timestamptz[]) AS u(id, was, due)
WHERE t.id = u.id AND t.due_at = u.was
RETURNING t.id

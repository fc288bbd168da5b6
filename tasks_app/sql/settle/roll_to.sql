-- roll_to: rows that were given a next moment in this transaction wait for the one of their timer instead.
UPDATE punctual_task t
SET due_at = u.due
FROM unnest(%(ids)s::bigint[], %(was)s::timestamptz[], %(dues)s::timestamptz[]) AS u(id, was, due)
WHERE t.id = u.id AND t.due_at = u.was
RETURNING t.id

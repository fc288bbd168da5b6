-- overdue_page: some tasks that were due before a moment, locked, so that they still are when somebody acts on them.
-- Who changes one right now keeps it (SKIP LOCKED): it comes with a later page, unless it is not overdue any more.
WITH
--include overdue
, page AS MATERIALIZED (
    SELECT id FROM overdue ORDER BY due_at LIMIT %(size)s
)
SELECT t.id FROM page JOIN punctual_task t ON t.id = page.id
WHERE t.due_at < %(before)s::timestamptz
ORDER BY t.id
FOR UPDATE OF t SKIP LOCKED

-- outdated_page: overdue_page, of instances of jobs of which a later firing is overdue, too.
WITH
--include overdue
, page AS MATERIALIZED (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY job ORDER BY fire_time DESC, id DESC) AS place
        FROM overdue WHERE job IS NOT NULL
    ) AS instance
    WHERE place > 1
    LIMIT %(size)s
)
SELECT t.id FROM page JOIN punctual_task t ON t.id = page.id
WHERE t.due_at < %(before)s::timestamptz
ORDER BY t.id
FOR UPDATE OF t SKIP LOCKED

-- unit_rows: the rows of a task's unit, the current one first. Only current rows are indexed by their unit; the ones
-- before are found through the row that took over.
WITH RECURSIVE chain AS (
    SELECT t.id, t.replaces, 1 AS place
    FROM schedule_task mine
    JOIN schedule_task t ON t.biz_key = mine.biz_key AND t.task_type = mine.task_type AND t.tenant = mine.tenant
    WHERE mine.id = %(id)s AND t.current
    UNION ALL
    SELECT older.id, older.replaces, chain.place + 1
    FROM chain JOIN schedule_task older ON older.id = chain.replaces
    WHERE chain.place < %(limit)s
)
SELECT id FROM chain ORDER BY place

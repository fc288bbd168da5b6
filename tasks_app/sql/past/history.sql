-- history: the ids of a unit's tasks, the latest first. Of those that are live only current ones are indexed by their unit;
-- the ones before are found through the row that took over.
WITH RECURSIVE chain AS (
    (SELECT t.id, t.replaces FROM punctual_task t
     WHERE t.biz_key = %(unit_key)s AND t.task_type = %(unit_type)s AND t.tenant = %(unit_tenant)s AND t.current
     UNION ALL
     (SELECT p.id, p.replaces FROM punctual_past p
      WHERE p.biz_key = %(unit_key)s AND p.task_type = %(unit_type)s AND p.tenant = %(unit_tenant)s
      ORDER BY p.id DESC
      LIMIT %(most)s))
    UNION
    SELECT older.id, older.replaces FROM chain
    -- LIMIT keeps the look-up a look-up, however many PostgreSQL's planner expects.
    CROSS JOIN LATERAL (SELECT id, replaces FROM punctual_task WHERE id = chain.replaces LIMIT 1) AS older
)
SELECT id FROM chain ORDER BY id DESC LIMIT %(most)s

-- check_replaced: a row is taken over by its own unit, and is not current after that.
SELECT t.id, t.biz_key
FROM (
    SELECT * FROM
--rows
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
CROSS JOIN LATERAL (
    SELECT o.current, o.tenant, o.task_type, o.biz_key FROM punctual_any_task o WHERE o.id = t.replaces LIMIT 1
) AS o
WHERE t.replaces IS NOT NULL AND (o.current OR (o.tenant, o.task_type, o.biz_key) <> (t.tenant, t.task_type, t.biz_key))

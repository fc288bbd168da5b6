-- check_current: a unit has one current row; none among what is live, if its last one is over and in the past.
-- Whoever gave up being current was taken over from, so a newer one is.
SELECT t.id, t.biz_key
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE c.id <> t.id) AS others FROM punctual_task c
    WHERE c.biz_key = t.biz_key AND c.task_type = t.task_type AND c.tenant = t.tenant AND c.current
) AS unit
WHERE CASE WHEN t.current THEN unit.others > 0
           WHEN unit.others > 0 THEN FALSE
           ELSE (SELECT count(*) FROM punctual_past p
                 WHERE p.biz_key = t.biz_key AND p.task_type = t.task_type AND p.tenant = t.tenant AND p.current
                   AND p.id > t.id) = 0 END

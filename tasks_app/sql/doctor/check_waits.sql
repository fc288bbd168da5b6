-- check_waits: what a BLOCKED instance waits for is there: only a success leaves while somebody still waits, and then it is noted.
SELECT t.id, t.biz_key
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE t.status = 'BLOCKED'
  AND (SELECT count(*) FROM (SELECT parent, ended FROM punctual_wait WHERE task = t.id ORDER BY parent LIMIT 100000) AS w
       WHERE w.ended IS DISTINCT FROM 'SUCCESS' AND w.ended IS DISTINCT FROM 'NOT_NEEDED'
         AND (SELECT count(*) FROM punctual_task p WHERE p.id = w.parent) = 0
         AND (SELECT count(*) FROM punctual_past p WHERE p.id = w.parent) = 0) > 0

-- check_blocked: an instance that is BLOCKED waits for its turn, or for another.
SELECT t.id, t.biz_key
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE t.status = 'BLOCKED' AND t.job IS NOT NULL
  AND (SELECT count(*) FROM punctual_turn u WHERE u.task = t.id AND u.state <> 'taken') = 0
  AND (SELECT count(*) FROM punctual_wait w WHERE w.task = t.id) = 0

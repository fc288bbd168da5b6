-- check_away: AWAY means that somebody has it, in its last run and until a time; nobody has anything else.
SELECT t.id, t.status
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
LEFT JOIN LATERAL (SELECT a.run FROM punctual_away a WHERE a.task = t.id LIMIT 1) AS a ON TRUE
WHERE t.status = 'AWAY' AND (a.run IS NULL OR t.ran_in IS DISTINCT FROM a.run)
UNION ALL
SELECT a.task, 'not away' FROM punctual_away a
WHERE a.task > %(after)s AND a.task <= %(last)s
  AND (SELECT count(*) FROM punctual_task t WHERE t.id = a.task AND t.status = 'AWAY') = 0

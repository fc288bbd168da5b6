-- check_letters: a current DEAD row has one open dead letter, and no other row has any.
SELECT t.id, t.status
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
CROSS JOIN LATERAL (
    SELECT count(*) AS open FROM punctual_dead_letter d WHERE d.task_id = t.id AND d.replay_status = 'OPEN'
) AS d
WHERE d.open <> (t.status = 'DEAD' AND t.current)::int
UNION ALL
SELECT d.task_id, 'not live' FROM punctual_dead_letter d
WHERE d.replay_status = 'OPEN' AND d.task_id > %(after)s AND d.task_id <= %(last)s
  AND (SELECT count(*) FROM punctual_task t WHERE t.id = d.task_id) = 0

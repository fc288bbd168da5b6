-- dead_lately: how many tasks of each type have given up within the last minute, and are not retried yet; read up to a bound.
SELECT task_type, count(*), (array_agg(task_id ORDER BY id DESC))[1:%(sample)s]
FROM (
    SELECT id, task_id, task_type FROM punctual_dead_letter
    WHERE replay_status = 'OPEN' AND created_at > now() - make_interval(secs => %(seconds)s)
    ORDER BY created_at
    LIMIT %(most)s
) AS lately
GROUP BY task_type

-- dead_lately: how many tasks of each tenant and type have given up within the last minute, and are not retried yet; read up to a bound.
-- A receiver that says no to a call has answered: that is no failure.
SELECT tenant, task_type, count(*), (array_agg(task_id ORDER BY id DESC))[1:%(sample)s]
FROM (
    SELECT id, task_id, tenant, task_type FROM punctual_dead_letter
    WHERE replay_status = 'OPEN' AND created_at > now() - make_interval(secs => %(seconds)s)
      AND NOT (task_type = 'HTTP_CALLBACK' AND starts_with(error_code, 'HTTP_4')
               AND error_code NOT IN ('HTTP_408', 'HTTP_425', 'HTTP_429'))
    ORDER BY created_at
    LIMIT %(most)s
) AS lately
GROUP BY tenant, task_type

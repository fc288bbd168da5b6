-- last_attempts: the newest failed try of each of these tasks: when it began, and who made it.
SELECT u.id, newest.started_at, newest.worker
FROM unnest(%(ids)s::bigint[]) AS u(id)
CROSS JOIN LATERAL (
    SELECT a.started_at, a.worker FROM punctual_attempt a WHERE a.task_id = u.id ORDER BY a.id DESC LIMIT 1
) AS newest

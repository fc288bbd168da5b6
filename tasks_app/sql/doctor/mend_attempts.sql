-- mend_attempts: failures are counted again, from the attempts that are there.
UPDATE punctual_task t
SET retry_count = there.attempts, attempt = least(t.attempt, there.attempts), updated_at = clock_timestamp()
FROM (
    SELECT id, (SELECT count(*) FROM punctual_attempt a WHERE a.task_id = n.id)::int AS attempts
    FROM unnest(%(ids)s::bigint[]) AS n(id)
) AS there
WHERE t.id = there.id AND t.retry_count <> there.attempts
  AND t.created_at > (SELECT clock_timestamp()) - make_interval(secs => %(hot)s)
RETURNING t.id

-- lock_limits: the buckets of these types, filled up to now (possibly above the burst) and locked, so that only one beat
-- counts at a time.
-- Rows that another beat has locked are left out, so no beat waits. Permits are not lost while the clock is set back.
-- Also returns the permits after the last fill, and when max_running was last reached: these show since when the claimed
-- tasks could start.
-- AWAY tasks count for a limit, but not for a safeguard, so the two are counted separately.
-- Limits are read here, because another beat may have declared a different one since the caller read them. A safeguard can
-- restrict a type further, or only its retries. If a type has no limit of its own, only its retries are then claimed by
-- type. If a safeguard restricts the whole type, its rate applies to all tasks, and retries have no separate rate.
-- A beat that freezes or is cut off while it counts keeps the lock no longer than its shards.
SELECT l.task_type, l.permits + now.rate * greatest(0, extract(epoch FROM clock_timestamp() - l.filled_at)::float8),
       now.rate, now.burst, l.max_running, held.max_running, now.of_retries,
       l.permits, date_part('epoch', l.filled_at), date_part('epoch', l.full_at)
FROM punctual_type_limit l
CROSS JOIN LATERAL (
    SELECT min(c.rate) AS rate, min(c.max_running) AS max_running, coalesce(bool_and(c.kind = 'retries'), FALSE) AS of_retries
    FROM punctual_curb c
    WHERE c.target = l.task_type AND c.of_tenant = ''
      AND (c.kind = 'type'
           OR (c.kind = 'retries' AND l.rate IS NULL AND l.max_running IS NULL
               AND NOT EXISTS (SELECT FROM punctual_curb o WHERE o.kind = 'type' AND o.target = c.target)))
) AS held
CROSS JOIN LATERAL (
    SELECT least(l.rate, held.rate) AS rate, least(l.burst, CASE WHEN held.rate IS NOT NULL THEN greatest(held.rate, 1) END) AS burst,
           held.of_retries
) AS now
WHERE l.task_type = ANY (%(types)s::text[])
  AND (SELECT set_config('idle_in_transaction_session_timeout', %(patience)s, TRUE)) IS NOT NULL
ORDER BY l.task_type
FOR UPDATE OF l SKIP LOCKED

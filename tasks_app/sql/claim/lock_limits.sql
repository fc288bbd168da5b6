-- lock_limits: the buckets of these types, filled up to now (and perhaps over) and locked, so that only one beat
-- counts at a time. One that another beat holds is left out: nobody waits. Nothing flows out while the clock is set back.
-- And what was in them when they were last filled, and when the type was last seen full: from that follows since when
-- what is claimed now was allowed to start.
-- The places of a limit and those of a safeguard come apart: what is AWAY has one of the limit's and none of the safeguard's.
-- With what each limit is by now: another beat may have declared another one since the caller read them. A safeguard may hold the
-- type back further, or its retries: those of a type without a limit are claimed by type then, and nothing else of it is. Where
-- one holds the whole type back, its rate is that of all, and retries have none of their own.
-- A beat that is frozen or cut off while it counts keeps the lock no longer than its shards.
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

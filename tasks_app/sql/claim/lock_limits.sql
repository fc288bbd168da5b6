-- lock_limits: the buckets of these types, filled up to now (and perhaps over) and locked, so that only one beat
-- counts at a time. One that another beat holds is left out: nobody waits. Nothing flows out while the clock is set back.
-- And what was in them when they were last filled, and when the type was last seen full: from that follows since when
-- what is claimed now was allowed to start.
-- With what each limit is by now: another beat may have declared another one since the caller read them.
-- A beat that is frozen or cut off while it counts keeps the lock no longer than its shards.
SELECT task_type, permits + rate * greatest(0, extract(epoch FROM clock_timestamp() - filled_at)::float8), rate, burst, max_running,
       permits, date_part('epoch', filled_at), date_part('epoch', full_at)
FROM punctual_type_limit
WHERE task_type = ANY (%(types)s::text[])
  AND (SELECT set_config('idle_in_transaction_session_timeout', %(patience)s, TRUE)) IS NOT NULL
ORDER BY task_type
FOR UPDATE SKIP LOCKED

-- lock_limits: the token buckets of these types, filled up to now (and perhaps over) and locked, so that only one beat
-- counts at a time. One that another beat holds is left out: nobody waits. Nothing flows out while the clock is set back.
SELECT task_type, tokens + rate * greatest(0, extract(epoch FROM clock_timestamp() - filled_at)::float8)
FROM type_limit
WHERE task_type = ANY (%(types)s::text[])
ORDER BY task_type
FOR UPDATE SKIP LOCKED

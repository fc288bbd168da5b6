-- take_curb_room: so many tasks of this batch begin under each of these curbs, and so many were sent back. Each comes once in a stretch of
-- half a minute, so what came back in the last whole one says how many wait.
WITH taken AS MATERIALIZED (
    SELECT * FROM unnest(%(curbs)s::bigint[], %(permits)s::float8[], %(tasks)s::int[], %(returned)s::int[])
        AS t(curb, permits, tasks, returned)
), held AS (
    INSERT INTO punctual_curb_permit (curb, batch_no, tasks)
    SELECT curb, %(batch_no)s::uuid, tasks FROM taken WHERE tasks > 0
    ON CONFLICT (curb, batch_no) DO UPDATE SET tasks = excluded.tasks
)
UPDATE punctual_curb c
SET permits = coalesce(t.permits, c.permits), filled_at = clock_timestamp(),
    waiting = CASE WHEN c.counted_at < clock_timestamp() - interval '30 seconds' THEN c.returned ELSE c.waiting END,
    returned = t.returned + CASE WHEN c.counted_at < clock_timestamp() - interval '30 seconds' THEN 0 ELSE c.returned END,
    counted_at = CASE WHEN c.counted_at < clock_timestamp() - interval '30 seconds' THEN clock_timestamp() ELSE c.counted_at END
FROM taken t
WHERE c.id = t.curb

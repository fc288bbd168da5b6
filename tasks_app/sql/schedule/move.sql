-- move: reschedule of rows that nobody runs. Same row, new time; counts stay. BLOCKED still waits for its parents.
UPDATE punctual_task t
SET execute_time = u.run_at, due_at = CASE WHEN t.status = 'BLOCKED' THEN NULL ELSE u.run_at END,
    allowed_at = CASE WHEN u.run_at < u.now THEN u.now END,
    payload = coalesce(u.payload::jsonb, t.payload), updated_at = clock_timestamp()
FROM (
    SELECT given.*, clock.now, coalesce(given.at, clock.now + make_interval(secs => given.delay)) AS run_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
         unnest(%(ids)s::bigint[], %(ats)s::timestamptz[], %(delays)s::float8[], %(payloads)s::text[])
         AS given(id, at, delay, payload)
) AS u
WHERE t.id = u.id AND t.current
  AND (t.status IN ('INIT', 'FAIL', 'BLOCKED') OR (t.status = 'SUCCESS' AND t.due_at IS NOT NULL))
RETURNING t.tenant, t.task_type, t.biz_key, t.id, date_part('epoch', t.due_at)

-- check_timetable: what waits is where somebody looks: apart, or at its entry in the timetable, if that is not behind us.
SELECT t.id, t.status
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
LEFT JOIN punctual_timetable p ON p.shard = t.shard AND p.noted_at <= statement_timestamp()
WHERE t.wait_at IS DISTINCT FROM t.due_at
  AND (t.wait_at IS NOT NULL OR t.entry_at IS DISTINCT FROM t.due_at OR t.limited OR t.repeat_after IS NOT NULL
       OR t.entry_at < (p.passed ->> t.lane)::timestamptz)

-- mend_minute: the figures of one minute once more, with what was committed too late for its roll-up.
-- Whoever has seen less changes nothing, however late it comes.
WITH span AS (
    SELECT %(minute)s::timestamptz AS since, %(minute)s::timestamptz + interval '1 minute' AS until
),
--include minute_sums
INSERT INTO punctual_minute_figures AS m (minute, task_type, batches, ok, failed, run_us, lateness, returned)
SELECT f.minute, f.task_type, f.batches, f.ok, f.failed, f.run_us, coalesce(h.lateness, '{}'), f.returned
FROM figures f LEFT JOIN histogram h USING (minute, task_type)
ON CONFLICT (minute, task_type) DO UPDATE
SET batches = excluded.batches, ok = excluded.ok, failed = excluded.failed, run_us = excluded.run_us,
    lateness = excluded.lateness, returned = excluded.returned
WHERE excluded.batches + excluded.returned > m.batches + m.returned
RETURNING 1

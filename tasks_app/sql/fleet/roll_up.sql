-- roll_up: the figures of the batches that finished in whole minutes, by type, so that no chart has to read batches; and what
-- became of tasks that were away, in the minute in which it was told.
-- From the minute after the last one that is there, up to the last whole minute that ended `settled` seconds ago: what
-- finished in it has committed by then.
WITH span AS (
    SELECT greatest(
               coalesce((SELECT max(minute) + interval '1 minute' FROM punctual_minute_figures),
                        (SELECT date_trunc('minute', min(finished_at)) FROM punctual_any_batch WHERE finished_at IS NOT NULL)),
               date_trunc('minute', clock_timestamp()) - make_interval(mins => %(minutes)s)) AS since,
           date_trunc('minute', clock_timestamp() - make_interval(secs => %(settled)s)) AS until
),
--include minute_sums
INSERT INTO punctual_minute_figures (minute, task_type, batches, ok, failed, run_us, lateness, returned)
SELECT f.minute, f.task_type, f.batches, f.ok, f.failed, f.run_us, coalesce(h.lateness, '{}'), f.returned
FROM figures f LEFT JOIN histogram h USING (minute, task_type)
ON CONFLICT DO NOTHING
RETURNING 1

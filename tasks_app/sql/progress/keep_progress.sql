-- The rows of `ours` are how far these tasks are now, each as (id, fraction, note).
INSERT INTO punctual_progress AS p (task, fraction, note, at)
SELECT id, fraction, note, clock_timestamp() FROM ours ORDER BY id
ON CONFLICT (task) DO UPDATE SET fraction = excluded.fraction, note = excluded.note, at = excluded.at
RETURNING task

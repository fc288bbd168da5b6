-- pulse_before: how long a task of each of these types took on average in the hour before the last ten minutes, of those of which there
-- were enough.
SELECT task_type, (sum(run_us) / sum(ok + failed - returned))::float8
FROM punctual_pulse
WHERE minute >= date_trunc('minute', now()) - interval '70 minutes' AND minute < date_trunc('minute', now()) - interval '10 minutes'
  AND task_type = ANY (%(types)s::text[])
GROUP BY task_type
HAVING sum(ok + failed - returned) >= %(sample)s

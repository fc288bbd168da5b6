-- pace_before: how long a task of each type took within the last day, from the figures by minute.
-- The batches themselves are removed from the live table a few minutes after they end.
-- Uses now(), because no index can be searched with clock_timestamp().
SELECT task_type, (sum(run_us) / sum(ok + failed - returned))::float8 AS us_per_task, NULL::float8 AS way
FROM punctual_minute_figures
WHERE minute >= now() - interval '1 day' AND ok + failed > returned
GROUP BY task_type

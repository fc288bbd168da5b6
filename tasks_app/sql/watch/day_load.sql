-- day_load: by type, how many tasks ran within the last day, and for how long in all, from the figures of its minutes.
-- now() and not clock_timestamp(), which no index can be searched with.
SELECT task_type, sum(ok + failed - returned)::float8, sum(run_us)::float8 / 1e6
FROM punctual_minute_figures
WHERE minute >= now() - interval '1 day' AND ok + failed > returned
GROUP BY task_type

-- pace: how long a task of each type took lately, from the most recent finished batches.
SELECT task_type, (sum(run_us) / sum(ok + failed))::float8 AS us_per_task
FROM (
    SELECT task_type, run_us, ok, failed
    FROM punctual_batch
    WHERE finished_at IS NOT NULL AND ok + failed > 0
    ORDER BY finished_at DESC
    LIMIT 200
) AS recent
GROUP BY task_type

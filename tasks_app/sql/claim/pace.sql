-- pace: how long a task of each type took lately, and how long its batches were on their way from the claim to their start, from
-- the most recent finished batches.
SELECT task_type, (sum(run_us) / sum(ok + failed))::float8 AS us_per_task,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY date_part('epoch', started_at - claimed_at)) AS way
FROM (
    SELECT task_type, run_us, ok, failed, claimed_at, started_at
    FROM punctual_batch
    WHERE finished_at IS NOT NULL AND ok + failed > 0
    ORDER BY finished_at DESC
    LIMIT 200
) AS recent
GROUP BY task_type

-- pace: by type, how long a task took recently, and how long nine of ten batches took from claim to start, from the most
-- recent finished batches. One or two batches are not enough for the second figure.
SELECT task_type, (sum(run_us) / sum(ok + failed))::float8 AS us_per_task,
       CASE WHEN count(*) FILTER (WHERE place <= 50) >= 10
            THEN percentile_cont(0.9) WITHIN GROUP (ORDER BY date_part('epoch', started_at - claimed_at)) FILTER (WHERE place <= 50)
       END AS way
FROM (
    SELECT task_type, run_us, ok, failed, claimed_at, started_at, row_number() OVER (ORDER BY finished_at DESC) AS place
    FROM (
        SELECT task_type, run_us, ok, failed, claimed_at, started_at, finished_at
        FROM punctual_batch
        WHERE finished_at IS NOT NULL AND ok + failed > 0
        ORDER BY finished_at DESC
        LIMIT 200
    ) AS last
) AS recent
GROUP BY task_type

-- id_at: the id from which on tasks were made at this moment or later, by halving the range: ids grow with time, but for
-- those of transactions that took long.
WITH RECURSIVE half AS (
    SELECT coalesce(min(id), 0) AS low, coalesce(max(id), 0) + 1 AS high FROM punctual_task
    UNION ALL
    SELECT CASE WHEN one.young THEN half.low ELSE one.id + 1 END,
           CASE WHEN one.young THEN half.low + (half.high - half.low) / 2 ELSE half.high END
    FROM half CROSS JOIN LATERAL (
        SELECT t.id, t.created_at >= %(moment)s AS young FROM punctual_task t
        WHERE t.id >= half.low + (half.high - half.low) / 2
        ORDER BY t.id LIMIT 1
    ) AS one
    WHERE half.low < half.high
)
SELECT min(high) FROM half

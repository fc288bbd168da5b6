-- check_budget: attempts stay within the budget.
SELECT t.id, t.attempt::text
FROM (
    SELECT * FROM
--rows
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE t.attempt > t.retry_count OR (t.attempt > t.max_retry + 1 AND t.retry_for IS NULL)

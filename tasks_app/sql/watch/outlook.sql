-- outlook: what waits of one type, by when it is due (step 0 is due already, the last step is everything later) and, if
-- its last try failed, by what it failed with.
-- Counted in indexes alone, step by step: for a million tasks that is a tenth of the pages, and no expression a row. One
-- index has what has a limit, one what rolls without one, one what failed. A task that neither has a limit nor rolls is not
-- counted: an index that names its type would be paid for by every claim.
WITH step AS MATERIALIZED (
    SELECT place, CASE place WHEN 0 THEN '-infinity' ELSE now + (place - 1) * length END AS after,
           CASE place WHEN %(steps)s + 1 THEN 'infinity' ELSE now + place * length END AS until
    FROM (SELECT clock_timestamp() AS now, make_interval(secs => %(step)s::float8) AS length) AS clock,
         generate_series(0, %(steps)s + 1) AS place
)
SELECT place, '', (
    SELECT count(*) FROM punctual_task
    WHERE wait_at IS NOT NULL AND limited AND task_type = %(task_type)s AND tenant = %(tenant)s
      AND lane = ANY (%(lanes)s::text[]) AND wait_at > step.after AND wait_at <= step.until
) + (
    SELECT count(*) FROM punctual_task
    WHERE wait_at IS NOT NULL AND NOT limited AND repeat_after IS NOT NULL
      AND task_type = %(task_type)s AND tenant = %(tenant)s AND wait_at > step.after AND wait_at <= step.until
)
FROM step
UNION ALL
SELECT NULL, error_code, count(*)
FROM punctual_task
WHERE wait_at IS NOT NULL AND error_code > '' AND status = 'FAIL' AND task_type = %(task_type)s AND tenant = %(tenant)s
GROUP BY 2

-- count_retrying: what failed and waits for its next try, by type, in an index of nothing else; up to a bound in all.
SELECT few.task_type, count(*)
FROM (SELECT task_type FROM punctual_task WHERE wait_at IS NOT NULL AND error_code > '' LIMIT %(bound)s) AS few
GROUP BY few.task_type

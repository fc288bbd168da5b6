-- limited_types: the types of scheduled tasks with a limit, whether or not a beat has declared that limit. Reads one index
-- entry for each type.
WITH RECURSIVE found AS (
    (SELECT task_type FROM punctual_task WHERE limited AND wait_at IS NOT NULL ORDER BY task_type LIMIT 1)
    UNION ALL
    SELECT (SELECT t.task_type FROM punctual_task t
            WHERE t.limited AND t.wait_at IS NOT NULL AND t.task_type > found.task_type
            ORDER BY t.task_type LIMIT 1)
    FROM found WHERE found.task_type IS NOT NULL
)
SELECT task_type FROM found WHERE task_type IS NOT NULL

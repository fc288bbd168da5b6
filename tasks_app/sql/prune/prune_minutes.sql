-- prune_minutes: figures of minutes past their keep, in a small step.
WITH old AS (
    SELECT minute, task_type FROM punctual_minute_figures
    WHERE minute < now() - make_interval(secs => %(keep)s)
    ORDER BY minute LIMIT %(step)s
)
DELETE FROM punctual_minute_figures m USING old WHERE m.minute = old.minute AND m.task_type = old.task_type RETURNING 1

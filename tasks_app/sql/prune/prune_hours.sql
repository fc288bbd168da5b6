-- prune_hours: the figures of hours long ago, in a small step.
DELETE FROM punctual_hour_figures
WHERE hour < now() - make_interval(secs => %(keep)s) AND hour = ANY (ARRAY(
    SELECT hour FROM punctual_hour_figures WHERE hour < now() - make_interval(secs => %(keep)s)
    ORDER BY hour LIMIT %(step)s
))
RETURNING 1

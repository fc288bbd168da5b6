-- front_of_line: a moment that has passed, and is before the due time of everything that waits of a limited type.
-- One look into the index a lane.
SELECT least(min(first.due_at), clock_timestamp()) - interval '1 millisecond'
FROM unnest(%(lanes)s::text[]) AS l(lane)
LEFT JOIN LATERAL (
    SELECT t.wait_at AS due_at FROM punctual_task t
    WHERE t.limited AND t.wait_at IS NOT NULL AND t.task_type = %(task_type)s AND t.lane = l.lane
    ORDER BY t.wait_at
    LIMIT 1
) AS first ON TRUE

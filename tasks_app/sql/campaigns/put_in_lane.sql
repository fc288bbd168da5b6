-- put_in_lane: tasks that a campaign has just made due, or that wait for their turn, wait in its lane; says which lane each of
-- them came from.
WITH mine AS MATERIALIZED (
    SELECT id, lane FROM punctual_task
    WHERE id = ANY (%(ids)s::bigint[]) AND current AND (due_at IS NOT NULL OR status = 'BLOCKED')
    ORDER BY id
    FOR NO KEY UPDATE
), moved AS (
    UPDATE punctual_task t
    SET lane = %(lane)s
    FROM mine
    WHERE t.id = mine.id AND t.current AND (t.due_at IS NOT NULL OR t.status = 'BLOCKED') AND t.lane <> %(lane)s
)
SELECT id, lane FROM mine

-- replay: a DEAD row that is still its unit's current one -> INIT with a new budget; its dead letter is closed.
WITH dead AS MATERIALIZED (
    SELECT t.id FROM punctual_task t
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.current AND t.status = 'DEAD'
    ORDER BY t.id
    FOR NO KEY UPDATE
), moved AS (
    UPDATE punctual_task t
    SET status = 'INIT', attempt = 0, execute_time = clock_timestamp(), due_at = clock_timestamp(),
        updated_at = clock_timestamp()
    FROM dead
    WHERE t.id = dead.id AND t.current AND t.status = 'DEAD'
    RETURNING t.id
), closed AS (
    UPDATE punctual_dead_letter d
    SET replay_status = 'REPLAYED', closed_at = clock_timestamp(), closed_by = %(by)s
    FROM moved
    WHERE d.task_id = moved.id AND d.replay_status = 'OPEN'
)
SELECT id FROM moved

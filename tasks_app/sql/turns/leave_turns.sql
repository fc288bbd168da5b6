-- leave_turns: a job allows overlap from now on. What waits for its turn is due, and nobody has a turn any more.
-- The caller has locked the job, so nobody gives turns meanwhile.
WITH gone AS (
    DELETE FROM punctual_turn WHERE job = %(job)s RETURNING task
), waiting AS MATERIALIZED (
    SELECT t.id FROM punctual_task t
    WHERE t.id = ANY (ARRAY(SELECT task FROM gone)) AND t.status = 'BLOCKED'
    ORDER BY t.id
    FOR NO KEY UPDATE
)
UPDATE punctual_task t
SET status = 'INIT', due_at = greatest(t.execute_time, clock_timestamp()),
    allowed_at = greatest(t.execute_time, clock_timestamp()), updated_at = clock_timestamp()
FROM waiting
WHERE t.id = waiting.id AND t.status = 'BLOCKED'
RETURNING t.shard, date_part('epoch', t.due_at)

-- leave_turns: a job allows overlap from now on. What waits for its turn is due, and nobody has a turn any more.
-- One that waits for a retry, or was snoozed, is due when that is over. The caller has locked the job, so nobody gives turns
-- meanwhile.
WITH gone AS (
    DELETE FROM punctual_turn WHERE job = %(job)s RETURNING task, at
), waiting AS MATERIALIZED (
    SELECT t.id FROM punctual_task t
    WHERE t.id = ANY (ARRAY(SELECT task FROM gone)) AND t.status = 'BLOCKED'
    ORDER BY t.id
    FOR NO KEY UPDATE
), due AS MATERIALIZED (
    SELECT w.id, greatest(g.at, clock_timestamp()) AS at FROM waiting w JOIN gone g ON g.task = w.id
)
UPDATE punctual_task t
SET status = 'INIT', due_at = greatest(t.execute_time, due.at), allowed_at = greatest(t.execute_time, due.at),
    updated_at = clock_timestamp()
FROM due
WHERE t.id = due.id AND t.status = 'BLOCKED'
RETURNING t.shard, date_part('epoch', t.due_at)

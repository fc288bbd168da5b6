-- queue_again: instances that this transaction has made due again, of jobs that care about overlap -> BLOCKED, until it is
-- their turn. They queue, whatever the job's policy: somebody wants each of them to run.
-- The jobs are locked against an edit that would change their policy, and against deletion; and asked what that is only
-- then: one that allows overlap may be about to forbid it.
WITH jobs AS MATERIALIZED (
    SELECT d.id, d.shard, d.overlap FROM punctual_job d
    WHERE d.id = ANY (%(jobs)s::bigint[])
    ORDER BY d.id
    FOR KEY SHARE
), moved AS (
    UPDATE punctual_task t
    SET status = 'BLOCKED', due_at = NULL, updated_at = clock_timestamp()
    FROM jobs j
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.job = j.id AND j.overlap <> 'allow' AND t.status = 'INIT'
    RETURNING t.id, t.job, j.shard, t.execute_time
)
INSERT INTO punctual_turn (task, job, shard, at, policy, state)
SELECT id, job, shard, execute_time, 'queue_all', 'new' FROM moved ORDER BY id
ON CONFLICT (task) DO UPDATE SET at = excluded.at, policy = excluded.policy, state = excluded.state, alongside = FALSE
RETURNING task

-- line_up: what backfills have made of a job that lets no two overlap from now on, and nobody runs -> BLOCKED, in line behind all
-- others. What waits for a retry wants its turn when that is over. What lies aside stays there. Run before hold_turns: what is
-- being claimed is waited for, and then it runs, and has a turn. The caller has locked the job.
WITH made AS MATERIALIZED (
--include made_by_backfills
), clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), mine AS MATERIALIZED (
    SELECT t.id, t.due_at FROM punctual_task t
    WHERE t.id = ANY (ARRAY(SELECT id FROM made)) AND t.job = %(job)s
      AND t.status IN ('INIT', 'FAIL') AND t.due_at < %(never)s::timestamptz
    ORDER BY t.id
    FOR NO KEY UPDATE
), moved AS (
    UPDATE punctual_task t SET status = 'BLOCKED', due_at = NULL, updated_at = clock_timestamp()
    FROM mine
    WHERE t.id = mine.id AND t.status IN ('INIT', 'FAIL') AND t.due_at < %(never)s::timestamptz
    RETURNING t.id, mine.due_at
)
INSERT INTO punctual_turn (task, job, shard, at, policy, state)
SELECT m.id, d.id, d.shard, m.due_at, 'backfill', CASE WHEN m.due_at > clock.now THEN 'new' ELSE 'queued' END
FROM moved m, clock, punctual_job d
WHERE d.id = %(job)s
ORDER BY m.id
ON CONFLICT (task) DO UPDATE SET at = excluded.at, policy = excluded.policy, state = excluded.state, alongside = FALSE

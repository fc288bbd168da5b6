-- hold_turns: what is under way of a job that cared about no overlap until now has a turn, so that others wait for it.
-- There may be several, which go on beside each other (`alongside`): that was allowed when they began.
-- What is scheduled for later, and was never claimed, is not under way. Nor is what a backfill has made and nobody runs: that is
-- in nobody's way. What runs for one is not cancelled by those that replace, so its turn says whose it is.
WITH made AS MATERIALIZED (
--include made_by_backfills
)
INSERT INTO punctual_turn (task, job, shard, at, policy, state, alongside)
SELECT t.id, t.job, d.shard, t.execute_time, CASE WHEN t.made THEN 'backfill' ELSE 'queue_all' END, 'taken', TRUE
FROM punctual_job d
CROSS JOIN LATERAL (
    SELECT t.id, t.job, t.execute_time, t.status, t.due_at, t.id IN (SELECT id FROM made) AS made FROM punctual_task t
    WHERE t.job = d.id AND t.status <> 'BLOCKED' AND
--include live
      AND (t.status <> 'INIT' OR t.claimed_due IS NOT NULL OR t.due_at <= (SELECT clock_timestamp()))
) AS t
WHERE d.id = %(job)s AND NOT (t.made AND t.status IN ('INIT', 'FAIL') AND t.due_at < %(never)s::timestamptz)
ON CONFLICT DO NOTHING

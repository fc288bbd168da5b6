-- hold_turns: what is under way of a job that cared about no overlap until now has a turn, so that others wait for it.
-- What is scheduled for later, and was never claimed, is not under way.
INSERT INTO punctual_turn (task, job, shard, at, policy, state)
SELECT t.id, t.job, d.shard, t.execute_time, 'queue_all', 'taken'
FROM punctual_job d
CROSS JOIN LATERAL (
    SELECT t.id, t.job, t.execute_time FROM punctual_task t
    WHERE t.job = d.id AND t.status <> 'BLOCKED' AND
--include live
      AND (t.status <> 'INIT' OR t.claimed_due IS NOT NULL OR t.due_at <= (SELECT clock_timestamp()))
) AS t
WHERE d.id = %(job)s
ON CONFLICT DO NOTHING

-- take_campaign: the running campaign that has waited longest for its next step, locked until that step is committed.
-- Nobody waits for one that somebody else has locked; and one that another beat has just worked on is left to it, so that
-- two don't get in each other's way. Whoever takes it, the lock and `done` make sure that no step comes twice.
-- One of which as many tasks as it may have under way are not over yet waits until a look at them finds fewer.
SELECT id, kind, tenant, actor, from_tenant, reason, operation, options, rate, total, done, counts, most_running, waiting
FROM punctual_campaign
WHERE state = 'RUNNING' AND next_at <= (SELECT clock_timestamp())
  AND (holder = %(holder)s OR held_until IS NULL OR held_until < (SELECT clock_timestamp()))
  AND (most_running IS NULL OR waiting < most_running)
  AND NOT (
--include backfill_held
  )
ORDER BY next_at
LIMIT 1
FOR NO KEY UPDATE SKIP LOCKED

-- due_cursors: schedules whose next firing comes within the horizon, locked until the end of the transaction.
-- SKIP LOCKED: another planner is at it, or somebody changes one of its jobs; it is looked at again in a moment.
SELECT id, cron, timezone, dst_gap, dst_repeat, every, phase, next_fire, after_job, clock_timestamp()
FROM punctual_job_cursor
WHERE shard = ANY (%(shards)s::smallint[]) AND next_fire <= clock_timestamp() + make_interval(secs => %(ahead)s)
  AND id <> ALL (%(but)s::bigint[])
ORDER BY next_fire
LIMIT %(most)s
FOR UPDATE SKIP LOCKED

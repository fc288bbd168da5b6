-- outdated_cursors: schedules of a calendar that were planned by its days of before, locked until the end of the transaction.
-- SKIP LOCKED: a planner is at it, or somebody changes one of its jobs; it is looked at again in a moment.
SELECT id, cron, timezone, dst_gap, dst_repeat, every, phase, calendar, on_day_off, next_fire, after_job, down_until,
       clock_timestamp()
FROM punctual_job_cursor
WHERE calendar = %(calendar)s AND calendar > 0 AND calendar_version IS DISTINCT FROM %(version)s
ORDER BY id
LIMIT %(most)s
FOR UPDATE SKIP LOCKED

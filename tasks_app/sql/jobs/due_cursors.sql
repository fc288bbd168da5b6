-- due_cursors: schedules whose next firing comes within the horizon, locked until the end of the transaction.
-- SKIP LOCKED: another planner is at it, or somebody changes one of its jobs; it is looked at again in a moment.
-- The first of each shard by its index, and of those the earliest: only they are locked, one after another.
WITH soon AS MATERIALIZED (
    SELECT first.id
    FROM unnest(%(shards)s::smallint[]) AS s(shard)
    CROSS JOIN LATERAL (
        SELECT id, next_fire FROM punctual_job_cursor
        WHERE shard = s.shard AND next_fire <= (SELECT clock_timestamp() + make_interval(secs => %(ahead)s))
          AND id <> ALL (%(but)s::bigint[])
        ORDER BY next_fire
        LIMIT %(most)s
    ) AS first
    ORDER BY first.next_fire
)
SELECT c.id, c.cron, c.timezone, c.dst_gap, c.dst_repeat, c.every, c.phase, c.calendar, c.on_day_off, c.next_fire,
       c.after_job, c.down_until, clock_timestamp()
FROM soon
CROSS JOIN LATERAL (
    SELECT * FROM punctual_job_cursor
    WHERE id = soon.id AND next_fire <= (SELECT clock_timestamp() + make_interval(secs => %(ahead)s))
    LIMIT 1
    FOR UPDATE SKIP LOCKED
) AS c
LIMIT %(most)s

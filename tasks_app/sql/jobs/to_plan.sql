-- to_plan: whether a schedule of these shards fires within the horizon, a pause has ended, or a calendar was changed. All that a planner asks for
-- while there is nothing to do: one statement, and one look into an index for each shard. Asked with EXISTS, PostgreSQL
-- expects to find one soon, and reads all of them when there is none.
SELECT coalesce((SELECT min(first.next_fire)
                 FROM unnest(%(shards)s::smallint[]) AS s(shard)
                 CROSS JOIN LATERAL (
                     SELECT next_fire FROM punctual_job_cursor WHERE shard = s.shard ORDER BY next_fire LIMIT 1
                 ) AS first) <= clock_timestamp() + make_interval(secs => %(ahead)s), FALSE)
    OR coalesce((SELECT min(paused_until) FROM punctual_job) <= clock_timestamp(), FALSE)
    OR EXISTS (SELECT FROM punctual_calendar WHERE changed)

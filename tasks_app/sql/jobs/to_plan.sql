-- to_plan: whether a schedule of these shards fires within the horizon, or a pause has ended. All that a planner asks for
-- while there is nothing to do: one statement.
SELECT EXISTS (
           SELECT FROM punctual_job_cursor
           WHERE shard = ANY (%(shards)s::smallint[])
             AND next_fire <= clock_timestamp() + make_interval(secs => %(ahead)s)
       )
    OR EXISTS (SELECT FROM punctual_job WHERE paused_until <= clock_timestamp())

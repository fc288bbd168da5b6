-- overdue_in: how many tasks of a lane were due some time ago, whatever held them back since; up to a bound in each shard.
-- What waits for its limit is not among them, and no canary.
SELECT coalesce(sum(s.overdue), 0)::bigint
FROM unnest(%(shards)s::smallint[]) AS h(shard)
CROSS JOIN LATERAL (
    SELECT count(*) AS overdue FROM (
        SELECT FROM punctual_task t
        WHERE t.shard = h.shard AND t.lane = %(lane)s AND NOT t.limited
          AND t.due_at <= (SELECT clock_timestamp()) - make_interval(secs => %(late)s) AND t.task_type <> %(canary)s
        ORDER BY t.due_at
        LIMIT %(bound)s
    ) AS few
) AS s

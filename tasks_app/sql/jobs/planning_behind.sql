-- planning_behind: how many seconds ago the earliest firing that nobody has planned was due; empty if none has passed.
SELECT date_part('epoch', clock_timestamp() - min(first.next_fire))
FROM unnest(%(shards)s::smallint[]) AS s(shard) CROSS JOIN LATERAL (
    SELECT next_fire FROM punctual_job_cursor WHERE shard = s.shard ORDER BY next_fire LIMIT 1
) AS first
WHERE first.next_fire < clock_timestamp()

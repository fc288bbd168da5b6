-- turns_behind: how many seconds ago the earliest instance wanted its turn about which nobody has decided; empty if none did.
SELECT date_part('epoch', clock_timestamp() - min(first.at))
FROM unnest(%(shards)s::smallint[]) AS s(shard) CROSS JOIN LATERAL (
    SELECT at FROM punctual_turn WHERE shard = s.shard AND state = 'new' ORDER BY at LIMIT 1
) AS first
WHERE first.at < clock_timestamp()

-- read_ahead: what comes due soon in these shards, the earliest first, at most `most`.
SELECT date_part('epoch', d.due_at), d.id
FROM unnest(%(lanes)s::text[]) AS l(lane)
CROSS JOIN unnest(%(shards)s::smallint[]) AS s(shard)
CROSS JOIN LATERAL (
    SELECT t.id, t.due_at
    FROM punctual_task t
    WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited AND t.due_at <= to_timestamp(%(until)s)
    ORDER BY t.due_at
    LIMIT %(most)s
) AS d
ORDER BY d.due_at
LIMIT %(most)s

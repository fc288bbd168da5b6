-- read_ahead: what comes due soon in these shards, the earliest first, at most `most`; without what is held back (see claim).
SELECT date_part('epoch', d.due_at), d.id
FROM (
    SELECT given.lane,
           coalesce((SELECT i.held_before FROM punctual_installation i WHERE given.lane = ANY (i.held_lanes)), '-infinity') AS held
    FROM unnest(%(lanes)s::text[]) AS given(lane)
    OFFSET 0
) AS l
CROSS JOIN unnest(%(shards)s::smallint[]) AS s(shard)
CROSS JOIN LATERAL (
    SELECT t.id, t.due_at
    FROM punctual_task t
    WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited AND t.due_at >= l.held AND t.due_at <= to_timestamp(%(until)s)
    ORDER BY t.due_at
    LIMIT %(most)s
) AS d
ORDER BY d.due_at
LIMIT %(most)s

-- read_ahead: what comes due soon in these shards, the earliest first, at most `most`; without what is held back (see claim).
SELECT date_part('epoch', d.due_at), d.id
FROM (
    SELECT given.lane,
           coalesce((SELECT i.held_before FROM punctual_installation i WHERE given.lane = ANY (i.held_lanes)), '-infinity') AS held
    FROM unnest(%(lanes)s::text[]) AS given(lane)
    OFFSET 0
) AS l
CROSS JOIN unnest(%(shards)s::smallint[]) AS s(shard)
--include passed_in
CROSS JOIN LATERAL (
    SELECT * FROM (
        SELECT t.id, t.entry_at AS due_at
        FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = l.lane AND t.entry_at >= greatest(l.held, (p.passed ->> l.lane)::timestamptz)
          AND t.entry_at <= to_timestamp(%(until)s) AND t.due_at IS NOT NULL AND t.wait_at IS NULL
        ORDER BY t.entry_at
        LIMIT %(most)s
    ) AS entry
    UNION ALL
    SELECT * FROM (
        SELECT t.id, t.wait_at
        FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited AND t.wait_at >= l.held
          AND t.wait_at <= to_timestamp(%(until)s)
        ORDER BY t.wait_at
        LIMIT %(most)s
    ) AS apart
) AS d
ORDER BY d.due_at
LIMIT %(most)s

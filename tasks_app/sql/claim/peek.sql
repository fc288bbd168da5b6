-- peek: for each lane, the unstarted batches of this dispatcher, the live worker slots, and the earliest due time. A paused
-- lane has no slots. Then, for types with a limit, the earliest due time by type and lane.
-- Locked rows are included, because the dispatcher must not sleep past a row that is being edited.
-- A lane with a known backlog is not probed, and the other lanes only from `since` on. Before that time are the entries of
-- claimed tasks, and skipping thousands of them many times a second once took half a core.
-- If requested, the last row has no lane. It contains everything else that a beat checks once a second, so that an idle
-- beat needs no further statements: runs that wait for an overlap slot in these shards, an active subscription, several
-- tenants, and the rules for gates.
-- Held rows are not read (see claim).
-- Batches are counted from `waiting_from`, the claim time of the oldest batch that waited in the last scan. The index of
-- open batches is full of entries of recently closed ones.
-- If a lane's next due time is close, `same_due` is the number of tasks with exactly that due time, up to `many` in each
-- shard.
WITH l AS MATERIALIZED (
    SELECT given.lane, greatest(to_timestamp(given.since), held.before) AS since, coalesce(held.before, '-infinity') AS held
    FROM unnest(%(lanes)s::text[], %(since)s::float8[]) WITH ORDINALITY AS given(lane, since, place)
    LEFT JOIN LATERAL (SELECT i.held_before AS before FROM punctual_installation i WHERE given.lane = ANY (i.held_lanes)) AS held ON TRUE
    ORDER BY given.place
), unstarted AS MATERIALIZED (
    -- In the order of the index that is meant: where tables are empty, plans cost the same.
    SELECT b.lane, b.claimed_at
    FROM punctual_batch b
    WHERE b.finished_at IS NULL AND b.started_at IS NULL AND b.claimed_at >= to_timestamp(%(waiting_from)s)
      AND b.dispatcher = %(dispatcher)s
    ORDER BY b.claimed_at
)
SELECT NULL AS task_type, l.lane, date_part('epoch', next.due_at) AS next_due,
       (SELECT count(*) FROM unstarted u WHERE u.lane = l.lane) AS waiting,
       (SELECT coalesce(sum(n.slots), 0) FROM punctual_node n
        WHERE n.kind = 'WORKER' AND l.lane = ANY (n.lanes) 
          AND NOT EXISTS (SELECT FROM punctual_lane_pause p WHERE p.lane = l.lane)
          AND n.seen_at > clock_timestamp() - make_interval(secs => %(node_ttl)s)) AS slots,
       date_part('epoch', clock_timestamp()) AS clock, NULL AS besides,
       CASE WHEN next.due_at > clock_timestamp() AND next.due_at < clock_timestamp() + make_interval(secs => %(close)s) THEN (
           SELECT count(*)
           FROM unnest(%(shards)s::smallint[]) AS s(shard)
           CROSS JOIN LATERAL (
               (SELECT FROM punctual_task t
               WHERE t.shard = s.shard AND t.lane = l.lane AND t.entry_at = next.due_at
                 AND t.due_at IS NOT NULL AND t.wait_at IS NULL
               LIMIT %(many)s)
               UNION ALL
               (SELECT FROM punctual_task t
               WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited AND t.wait_at = next.due_at
               LIMIT %(many)s)
           ) AS same
       ) ELSE 0 END AS same_due,
       (SELECT date_part('epoch', min(u.claimed_at)) FROM unstarted u WHERE u.lane = l.lane) AS oldest
FROM l
LEFT JOIN LATERAL (
    SELECT min(first.due_at) AS due_at
    FROM unnest(%(shards)s::smallint[]) AS s(shard)
--include passed_in
    CROSS JOIN LATERAL (
        (SELECT t.entry_at AS due_at
        FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = l.lane AND t.entry_at >= greatest(l.since, (p.passed ->> l.lane)::timestamptz)
          AND t.due_at IS NOT NULL AND t.wait_at IS NULL
        ORDER BY t.entry_at
        LIMIT 1)
        UNION ALL
        (SELECT t.wait_at
        FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited AND t.wait_at >= l.since
        ORDER BY t.wait_at
        LIMIT 1)
    ) AS first
    WHERE l.lane = ANY (%(probe)s::text[])
) AS next ON TRUE
UNION ALL
SELECT g.task_type, l.lane, date_part('epoch', first.due_at), 0, 0, 0, NULL, 0, NULL
FROM unnest(%(types)s::text[]) AS g(task_type)
CROSS JOIN l
CROSS JOIN LATERAL (
    SELECT t.wait_at AS due_at FROM punctual_task t
    WHERE t.limited AND t.task_type = g.task_type AND t.lane = l.lane AND t.wait_at >= l.held
    ORDER BY t.wait_at
    LIMIT 1
) AS first
UNION ALL
SELECT NULL, NULL, NULL, 0, 0, 0, jsonb_build_object(
    'turns', (
        SELECT count(first.job) > 0
        FROM unnest(%(shards)s::smallint[]) AS s(shard)
        CROSS JOIN LATERAL (
            (SELECT w.job FROM punctual_turn w WHERE w.shard = s.shard AND w.state = 'new' ORDER BY w.at LIMIT 1)
            UNION ALL
            (SELECT w.job FROM punctual_turn w WHERE w.shard = s.shard AND w.state = 'queued' ORDER BY w.job LIMIT 1)
        ) AS first
    ),
    'subscriptions', EXISTS (SELECT FROM punctual_subscription WHERE state = 'ACTIVE'),
    'tenants', EXISTS (SELECT FROM punctual_tenant WHERE name <> ALL (ARRAY['default', 'internal'])),
    'gates', (
        SELECT coalesce(jsonb_agg(jsonb_build_array(kind, name, rate, burst, max_running)), '[]')
        FROM (
--include gates
        ) AS gates(kind, name, rate, burst, max_running)
    )
)::text, 0, NULL
WHERE %(besides)s

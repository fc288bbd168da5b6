-- first_symptoms: what the database itself knows of a trouble: the last sign of life of a beat, if none is alive; since when
-- tasks wait in lanes that are not held; and the newest commit that the server replayed when it last started or was promoted
-- (NULL: it started without a recovery). All by the database's clock; that commit by the clock of the server that wrote it.
SELECT clock_timestamp(),
       (SELECT CASE WHEN max(seen_at) < clock_timestamp() - make_interval(secs => %(ttl)s) THEN max(seen_at) END
        FROM punctual_node WHERE kind = 'BEAT'),
       (SELECT min(late.due_at)
        FROM unnest(%(shards)s::smallint[]) AS s(shard)
        CROSS JOIN unnest(%(lanes)s::text[]) AS l(lane)
        CROSS JOIN LATERAL (
            (SELECT t.entry_at AS due_at FROM punctual_task t
             WHERE t.shard = s.shard AND t.lane = l.lane AND t.task_type <> %(canary)s
               AND t.entry_at <= (SELECT clock_timestamp()) - make_interval(secs => %(late)s)
               AND t.due_at IS NOT NULL AND t.wait_at IS NULL
             ORDER BY t.entry_at
             LIMIT 1)
            UNION ALL
            (SELECT t.wait_at FROM punctual_task t
             WHERE t.shard = s.shard AND t.lane = l.lane AND NOT t.limited AND t.task_type <> %(canary)s
               AND t.wait_at <= (SELECT clock_timestamp()) - make_interval(secs => %(late)s)
             ORDER BY t.wait_at
             LIMIT 1)
        ) AS late),
       pg_last_xact_replay_timestamp()

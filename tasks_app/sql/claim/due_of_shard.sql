-- The due rows in one shard of a lane, the earliest first. Both passes of read_due use this.
        SELECT * FROM (
            SELECT t.id, t.tenant, t.entry_at AS due_at
            FROM punctual_task t
            WHERE t.shard = s.shard AND t.lane = %(lane)s
              AND t.entry_at >= greatest(s.since, (SELECT held FROM now), (p.passed ->> %(lane)s)::timestamptz)
              AND t.entry_at <= (SELECT at FROM now) AND t.due_at IS NOT NULL AND t.wait_at IS NULL
            ORDER BY t.entry_at
            LIMIT s.most
        ) AS entry
        UNION ALL
        SELECT * FROM (
            SELECT t.id, t.tenant, t.wait_at
            FROM punctual_task t
            WHERE t.shard = s.shard AND t.lane = %(lane)s AND NOT t.limited
              AND t.wait_at >= greatest(s.since, (SELECT held FROM now)) AND t.wait_at <= (SELECT at FROM now)
            ORDER BY t.wait_at
            LIMIT s.most
        ) AS apart
        ORDER BY due_at
        LIMIT s.most

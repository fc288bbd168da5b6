-- What is due in one shard of a lane, the earliest first. Both passes of read_due go by it.
        SELECT t.id, t.tenant, t.due_at
        FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = %(lane)s AND NOT t.limited
          AND t.due_at >= greatest(s.since, (SELECT held FROM now)) AND t.due_at <= (SELECT at FROM now)
        ORDER BY t.due_at
        LIMIT s.most

-- peek: per lane the earliest due moment, the batches claimed but not started, and the live worker slots.
-- Locked rows are included: a row that is being edited right now must not be slept over.
SELECT l.lane,
       extract(epoch FROM (
           SELECT min(first.due_at)
           FROM unnest(%(shards)s::smallint[]) AS s(shard)
           CROSS JOIN LATERAL (
               SELECT t.due_at
               FROM schedule_task t
               WHERE t.shard = s.shard AND t.lane = l.lane AND t.due_at IS NOT NULL
               ORDER BY t.due_at
               LIMIT 1
           ) AS first
       ))::float8 AS next_due,
       (SELECT count(*) FROM task_batch b
        WHERE b.finished_at IS NULL AND b.started_at IS NULL AND b.lane = l.lane) AS waiting,
       (SELECT coalesce(sum(n.slots), 0) FROM node n
        WHERE n.kind = 'WORKER' AND l.lane = ANY (n.lanes)
          AND n.seen_at > clock_timestamp() - make_interval(secs => %(node_ttl)s)) AS slots,
       extract(epoch FROM clock_timestamp())::float8 AS clock
FROM unnest(%(lanes)s::text[]) AS l(lane)

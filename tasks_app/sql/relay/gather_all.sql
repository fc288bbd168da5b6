-- gather_all: everything there is, for the first window, and for the one that comes after a restore.
SELECT pg_current_snapshot()::text, min(id), max(id), min(created_at), max(created_at), sum(count)::bigint,
       (SELECT jsonb_object_agg(tenant, events) FROM (SELECT tenant, sum(count) AS events FROM punctual_outbox GROUP BY tenant) AS own)
FROM punctual_outbox

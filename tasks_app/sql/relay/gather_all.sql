-- gather_all: everything there is, for the first window, and for the one that comes after a restore.
SELECT pg_current_snapshot()::text, min(id), max(id), min(created_at), max(created_at), sum(count)::bigint
FROM punctual_outbox

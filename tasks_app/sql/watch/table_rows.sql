-- As many rows a page as when statistics were made last, on all pages that there are by now: while many tasks come, statistics
-- are of when there were few. Before the first of them, as many as fit.
SELECT there.pages * CASE WHEN c.relpages > 0 THEN greatest(c.reltuples, 0) / c.relpages ELSE 12 END AS rows, there.pages
FROM pg_class c
CROSS JOIN LATERAL (SELECT pg_relation_size(c.oid)::float8 / current_setting('block_size')::float8 AS pages) AS there
WHERE c.oid = 'punctual_task'::regclass

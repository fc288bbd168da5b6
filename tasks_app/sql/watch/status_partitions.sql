-- status_partitions: of each table with partitions by time, how many there are, how many seconds ago the oldest ended, and in
-- how many the last one ends. From the catalogue alone.
SELECT parent.relname::text, count(*), extract(epoch FROM now() - min(part.until))::float8,
       extract(epoch FROM max(part.until) - now())::float8
FROM pg_class parent
JOIN pg_inherits i ON i.inhparent = parent.oid
JOIN pg_class c ON c.oid = i.inhrelid
CROSS JOIN LATERAL (
    SELECT (regexp_match(pg_get_expr(c.relpartbound, c.oid), $$TO \('([^']+)'\)$$))[1]::timestamptz
) AS part(until)
WHERE parent.relkind = 'p' AND parent.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'punctual_task'::regclass)
  AND starts_with(parent.relname, 'punctual_') AND part.until IS NOT NULL
GROUP BY parent.relname
ORDER BY parent.relname

-- status_partitions: of each table with partitions by time, how many there are, how many seconds ago the oldest ended, and in
-- how many the last one ends. From the catalogue alone. One that has none but its default reaches no further than now.
SELECT parent.relname::text, count(part.until), coalesce(extract(epoch FROM now() - min(part.until)), 0)::float8,
       coalesce(extract(epoch FROM max(part.until) - now()), 0)::float8
FROM pg_class parent
JOIN pg_partitioned_table cut ON cut.partrelid = parent.oid AND cut.partstrat = 'r'
LEFT JOIN pg_inherits i ON i.inhparent = parent.oid
LEFT JOIN pg_class c ON c.oid = i.inhrelid
LEFT JOIN LATERAL (
    SELECT (regexp_match(pg_get_expr(c.relpartbound, c.oid), $$TO \('([^']+)'\)$$))[1]::timestamptz
) AS part(until) ON TRUE
WHERE parent.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'punctual_task'::regclass)
  AND starts_with(parent.relname, 'punctual_')
GROUP BY parent.relname
ORDER BY parent.relname

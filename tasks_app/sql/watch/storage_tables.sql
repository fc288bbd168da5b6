-- storage_tables: each of our tables and partitions, with its sizes, its rows as PostgreSQL counts and guesses them, the bytes
-- that so many rows should take, when it was last cleaned and looked at, and the time that it is for.
-- What is more than the rows should take is bloat: free room inside the table that no vacuum gives back. Guessed from the
-- mean width of each column, as a freshly written table would be.
SELECT c.relname::text, coalesce(pg_partition_root(c.oid), c.oid)::regclass::text, parent.relname::text,
       pg_total_relation_size(c.oid), pg_relation_size(c.oid), pg_indexes_size(c.oid),
       coalesce(nullif(s.n_live_tup, 0), greatest(c.reltuples, 0))::bigint, coalesce(s.n_dead_tup, 0)::bigint,
       (greatest(c.reltuples, 0) * (28 + width.bytes)
        / coalesce((SELECT option_value::float8 / 100 FROM pg_options_to_table(c.reloptions) WHERE option_name = 'fillfactor'), 1)
       )::bigint,
       greatest(s.last_vacuum, s.last_autovacuum), greatest(s.last_analyze, s.last_autoanalyze), age(c.relfrozenxid)::bigint,
       bound.since, bound.until
FROM pg_class c
LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
LEFT JOIN pg_class parent ON parent.oid = i.inhparent
CROSS JOIN LATERAL (
    SELECT sum(avg_width * (1 - null_frac)) AS bytes FROM pg_stats
    WHERE schemaname = c.relnamespace::regnamespace::text AND tablename = c.relname AND NOT inherited
) AS width
CROSS JOIN LATERAL (
    SELECT (regexp_match(text, $$FROM \('([^']+)'\)$$))[1]::timestamptz, (regexp_match(text, $$TO \('([^']+)'\)$$))[1]::timestamptz
    FROM pg_get_expr(c.relpartbound, c.oid) AS text
) AS bound(since, until)
WHERE c.relkind = 'r' AND starts_with(c.relname, 'punctual_')
  AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'punctual_task'::regclass)
ORDER BY c.relname

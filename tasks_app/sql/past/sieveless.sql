-- sieveless: partitions of the past to which hardly anything comes any more, and that have no sieve for it; with how many
-- buckets a sieve of theirs should have.
SELECT c.relname, substr(k.relname, length('punctual_past_') + 1), b.since, b.until,
       1 + (greatest(c.reltuples, pg_relation_size(c.oid) / %(row_bytes)s) / %(prints)s)::integer
FROM pg_inherits i
JOIN pg_class k ON k.oid = i.inhrelid
JOIN pg_inherits j ON j.inhparent = k.oid
JOIN pg_class c ON c.oid = j.inhrelid
CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS bound
CROSS JOIN LATERAL (
    SELECT (regexp_match(bound, $$FROM \('([^']+)'\)$$))[1]::timestamptz AS since,
           (regexp_match(bound, $$TO \('([^']+)'\)$$))[1]::timestamptz AS until
) AS b
WHERE i.inhparent = 'punctual_past'::regclass
  AND b.since IS NOT NULL AND b.until < clock_timestamp() - make_interval(secs => %(closed)s)
  AND NOT EXISTS (SELECT FROM punctual_sieve s WHERE s.oid = c.oid AND s.name = c.relname AND s.ready)
ORDER BY b.until DESC

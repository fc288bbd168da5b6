-- sieveless: partitions of the past to which hardly anything comes any more, and that need a sieve: they have none, or one
-- to which much came late, as from a restored day. With how many buckets it should have. What somebody has begun is left
-- to them for a while.
SELECT c.relname, 1 + (greatest(c.reltuples, pg_relation_size(c.oid) / %(row_bytes)s) / %(prints)s)::integer
FROM pg_inherits i
JOIN pg_class k ON k.oid = i.inhrelid
JOIN pg_inherits j ON j.inhparent = k.oid
JOIN pg_class c ON c.oid = j.inhrelid
CROSS JOIN LATERAL (
    SELECT (regexp_match(bound, $$FROM \('([^']+)'\)$$))[1]::timestamptz AS since,
           (regexp_match(bound, $$TO \('([^']+)'\)$$))[1]::timestamptz AS until
    FROM pg_get_expr(c.relpartbound, c.oid) AS bound
) AS b
LEFT JOIN punctual_sieve s ON s.oid = c.oid AND s.name = c.relname
LEFT JOIN (SELECT sieve, count(*) AS marks FROM punctual_sieve_late GROUP BY sieve) AS late ON late.sieve = s.id
WHERE i.inhparent = 'punctual_past'::regclass
  AND b.since IS NOT NULL AND b.until < clock_timestamp() - make_interval(secs => %(closed)s)
  AND CASE WHEN s.ready THEN late.marks > s.buckets * %(prints)s / 5
           ELSE s.begun_at IS NULL OR s.begun_at < clock_timestamp() - interval '30 minutes'
                OR s.begun_at > clock_timestamp() END
ORDER BY b.until DESC

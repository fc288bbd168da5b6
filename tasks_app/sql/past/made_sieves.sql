-- made_sieves: partitions that need no sieve now: they have one to which little came late, or somebody has begun it not long
-- ago. Much comes late to one that was made before its day was restored.
SELECT s.name
FROM punctual_sieve s
LEFT JOIN (SELECT sieve, count(*) AS marks FROM punctual_sieve_late GROUP BY sieve) AS late ON late.sieve = s.id
WHERE
--include sieve_counts
  AND CASE WHEN s.ready THEN coalesce(late.marks, 0) <= s.buckets * %(prints)s / 5
           ELSE s.begun_at BETWEEN now() - interval '30 minutes' AND now() END

-- stretches: of the past, where something with the mark of `one` may be.
SELECT retention, since, until FROM unsieved
UNION ALL
SELECT s.retention, s.since, s.until
FROM sieves s
JOIN punctual_sieve_part part ON part.sieve = s.id AND part.bucket = punctual_bucket(one.mark, s.buckets)
WHERE punctual_print(one.mark) = ANY (part.prints)
UNION ALL
SELECT s.retention, s.since, s.until
FROM sieves s
WHERE EXISTS (SELECT FROM punctual_sieve_late late WHERE late.mark = one.mark AND late.sieve = s.id)

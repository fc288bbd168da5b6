-- stretches: of the past, where something with this mark may be.
SELECT retention, since, until FROM unsieved
UNION ALL
SELECT s.retention, s.since, s.until
FROM sieves s
JOIN punctual_sieve_part part ON part.sieve = s.id AND part.bucket = punctual_bucket(mark, s.buckets)
WHERE punctual_print(mark) = ANY (part.prints)

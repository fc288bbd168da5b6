-- forget_sieves: those of partitions that are gone, and what came late to any that is gone.
WITH gone AS (
    DELETE FROM punctual_sieve s
    WHERE NOT
--include sieve_counts
    RETURNING s.id
)
DELETE FROM punctual_sieve_late l
WHERE NOT EXISTS (SELECT FROM punctual_sieve s WHERE s.id = l.sieve) OR EXISTS (SELECT FROM gone WHERE gone.id = l.sieve)

-- forget_sieves: those of partitions that are gone.
DELETE FROM punctual_sieve s
WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.oid AND c.relname = s.name AND c.relispartition)

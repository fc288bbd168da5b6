-- sieve_counts: a sieve counts for the table it was made for, and only as long as that is a part of the past.
EXISTS (SELECT FROM pg_class c
        WHERE c.oid = s.oid AND c.relname = s.name AND pg_partition_root(c.oid) = 'punctual_past'::regclass)

-- keep_graphs: lock_operation for many at once: they wait for whoever changes something, and not for each other.
SELECT pg_advisory_xact_lock_shared(hashtextextended(%(operation)s::text, 0))

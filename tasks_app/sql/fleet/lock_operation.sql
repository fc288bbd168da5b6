-- lock_operation: two requests of one operation take turns, so that the second sees what the first has done.
SELECT pg_advisory_xact_lock(hashtextextended(%(operation)s::text, 0))

-- lock_job_quota: until this transaction ends, nobody else makes a job of this tenant that has a quota of them. Not by the tenant's
-- row, which others must not wait for.
SELECT pg_advisory_xact_lock(hashtextextended('punctual jobs of ' || %(tenant)s::text, 0))

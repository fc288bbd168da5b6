-- lock_trails: from now to the end of the transaction nobody else gives places, trims or anchors; nobody who writes an
-- entry waits for it. Without a wait, whether we have it.
SELECT CASE WHEN %(wait)s::bool
            THEN (SELECT TRUE FROM pg_advisory_xact_lock(hashtextextended('punctual_audit_chain', 0)))
            ELSE pg_try_advisory_xact_lock(hashtextextended('punctual_audit_chain', 0)) END

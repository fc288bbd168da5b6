-- note_look: all that was committed and has no place yet is found by this look, whoever goes on with it.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
)
UPDATE punctual_audit_unchained SET looked_at = clock.now FROM clock WHERE looked_at IS NULL

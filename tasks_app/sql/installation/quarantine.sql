-- quarantine: from the commit on this installation dispatches nothing and calls nobody, until an operator says what it is.
-- It writes its own audit entry and event, so that it is one statement wherever it is run: a restore runs it on a server
-- that no process of this installation knows yet. One that is in quarantine already keeps its first reason.
WITH changed AS (
    INSERT INTO punctual_installation (id, state, reason, changed_by)
    VALUES (1, 'QUARANTINED', %(reason)s, %(by)s)
    ON CONFLICT (id) DO UPDATE
    SET state = 'QUARANTINED', reason = excluded.reason, changed_by = excluded.changed_by, since = clock_timestamp()
    WHERE punctual_installation.state <> 'QUARANTINED'
    RETURNING reason, changed_by
), news AS (
    INSERT INTO punctual_outbox (tenant, event, count, payloads)
    SELECT %(tenant)s, %(event)s::text, 1, jsonb_build_array(jsonb_build_object('reason', reason, 'by', changed_by))
    FROM changed WHERE %(event)s::text IS NOT NULL
)
INSERT INTO punctual_audit_entry (operation, actor, verb, subject, outcome, reason)
SELECT gen_random_uuid(), %(by)s, 'quarantine', 'installation', 'quarantined', reason FROM changed
RETURNING id

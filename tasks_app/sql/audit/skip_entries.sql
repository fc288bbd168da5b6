-- skip_entries: these entries of broken trails wait apart from all others.
WITH skipped AS (
    DELETE FROM punctual_audit_unchained u USING unnest(%(ids)s::bigint[], %(tenants)s::text[]) AS given(entry_id, tenant)
    WHERE u.entry_id = given.entry_id RETURNING given.tenant, u.entry_id, u.created_at
)
INSERT INTO punctual_audit_skipped (tenant, entry_id, created_at)
SELECT tenant, entry_id, created_at FROM skipped ON CONFLICT DO NOTHING RETURNING entry_id

-- take_up_repaired: the entries of trails that are sound again wait with all others. All of a trail at once, and between two looks, so
-- that one look finds them. One step of an index for each broken trail.
WITH RECURSIVE broken AS (
    (SELECT tenant FROM punctual_audit_skipped ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT s.tenant FROM punctual_audit_skipped s WHERE s.tenant > broken.tenant ORDER BY s.tenant LIMIT 1)
    FROM broken WHERE broken.tenant IS NOT NULL
), repaired AS MATERIALIZED (
    SELECT tenant FROM broken WHERE tenant IS NOT NULL AND punctual_trail_sound(tenant)
      AND (SELECT TRUE FROM punctual_audit_unchained WHERE looked_at IS NOT NULL LIMIT 1) IS NOT TRUE
), taken AS (
    DELETE FROM punctual_audit_skipped WHERE tenant = ANY (ARRAY(SELECT tenant FROM repaired)) RETURNING entry_id, created_at
)
INSERT INTO punctual_audit_unchained (entry_id, created_at)
SELECT entry_id, created_at FROM taken ON CONFLICT DO NOTHING

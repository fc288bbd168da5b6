-- trails_without_head: tenants that have places, but nothing says how far their trail goes. One step of an index for each.
WITH RECURSIVE one AS (
    (SELECT tenant FROM punctual_audit_link ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT k.tenant FROM punctual_audit_link k WHERE k.tenant > one.tenant ORDER BY k.tenant LIMIT 1)
    FROM one WHERE one.tenant IS NOT NULL
)
SELECT tenant FROM one
WHERE tenant IS NOT NULL AND (SELECT TRUE FROM punctual_audit_trail t WHERE t.tenant = one.tenant) IS NOT TRUE

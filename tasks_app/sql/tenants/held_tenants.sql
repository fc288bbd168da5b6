-- held_tenants: the tenants that are not suspended, and of which tasks lie aside all the same: one step down their index for
-- each tenant that has any.
WITH RECURSIVE found AS (
    (SELECT tenant FROM punctual_held ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT h.tenant FROM punctual_held h WHERE h.tenant > found.tenant ORDER BY h.tenant LIMIT 1)
    FROM found WHERE found.tenant IS NOT NULL
)
SELECT tenant FROM found
WHERE tenant IS NOT NULL AND tenant <> ALL (ARRAY(SELECT name FROM punctual_tenant WHERE state = 'SUSPENDED'))

-- broken_trails: whose trails get no places, by name; some of them if they are many. One step of an index for each.
WITH RECURSIVE broken AS (
    (SELECT tenant, 1 AS number FROM punctual_audit_skipped ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT s.tenant FROM punctual_audit_skipped s WHERE s.tenant > broken.tenant ORDER BY s.tenant LIMIT 1), number + 1
    FROM broken WHERE broken.tenant IS NOT NULL AND number < %(most)s
)
SELECT tenant FROM broken WHERE tenant IS NOT NULL

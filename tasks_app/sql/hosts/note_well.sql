-- note_well: these hosts have answered last; whatever failed before is forgotten.
WITH mine AS MATERIALIZED (
    SELECT e.id
    FROM unnest(%(tenants)s::text[], %(hosts)s::text[]) AS a(tenant, host)
    JOIN punctual_host_health e ON e.tenant = a.tenant AND e.host = a.host
    ORDER BY e.id
    FOR UPDATE OF e
)
DELETE FROM punctual_host_health e USING mine WHERE e.id = mine.id
RETURNING e.tenant, e.host, e.unwell_since IS NOT NULL AS was_unwell

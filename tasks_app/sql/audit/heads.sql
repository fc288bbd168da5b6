-- heads: how far the trails of these tenants go, and whether each of them can take more: a broken one can't, nor one that has
-- entries from the time when it was.
SELECT g.tenant, coalesce(t.place, 0), coalesce(t.hash, decode(repeat('00', 32), 'hex')),
       punctual_trail_sound(g.tenant)
       AND (SELECT TRUE FROM punctual_audit_skipped s WHERE s.tenant = g.tenant LIMIT 1) IS NOT TRUE
FROM unnest(%(tenants)s::text[]) AS g(tenant)
LEFT JOIN LATERAL (SELECT place, hash FROM punctual_audit_trail x WHERE x.tenant = g.tenant LIMIT 1) AS t ON TRUE

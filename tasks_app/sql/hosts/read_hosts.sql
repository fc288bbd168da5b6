-- read_hosts: of these hosts, as these tenants call them, those that have a limit, or have failed since they last answered.
-- Most have neither, and then this is all that their tasks pay. One that a safeguard holds counts as unwell, and nobody tries it.
SELECT a.tenant, a.host, l.host IS NOT NULL AS limited, e.tasks, e.unwell_since IS NOT NULL OR held.since IS NOT NULL AS unwell,
       CASE WHEN held.since IS NOT NULL THEN greatest(date_part('epoch', e.try_at - clock_timestamp()), %(held_for)s::float8)
            ELSE date_part('epoch', e.try_at - clock_timestamp()) END AS try_in, e.tries, e.returned,
       greatest(e.crowd, e.returned), held.since IS NOT NULL
FROM unnest(%(tenants)s::text[], %(hosts)s::text[]) AS a(tenant, host)
LEFT JOIN punctual_host l ON l.host = a.host
LEFT JOIN punctual_host_health e ON e.tenant = a.tenant AND e.host = a.host
CROSS JOIN LATERAL (SELECT min(c.since) AS since FROM punctual_curb c WHERE c.kind = 'host' AND c.target = a.host AND c.of_tenant IN ('', a.tenant)) AS held
WHERE l.host IS NOT NULL OR e.host IS NOT NULL OR held.since IS NOT NULL

-- return_permits: permits of calls that were not made go back to their hosts. The caller holds the locks of these hosts.
UPDATE punctual_host l
SET permits = least(l.burst, l.permits + a.permits)
FROM unnest(%(hosts)s::text[], %(permits)s::int[]) AS a(host, permits)
WHERE l.host = a.host AND l.rate IS NOT NULL

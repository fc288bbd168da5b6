-- hold_tenant_archive: a longer lease. Nothing is returned if another beat has taken it, or somebody has stopped it.
UPDATE punctual_tenant_archive
SET held_until = clock_timestamp() + make_interval(secs => %(lease)s)
WHERE tenant = %(tenant)s AND fence = %(fence)s AND state = 'RUNNING'
RETURNING tenant

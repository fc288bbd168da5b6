-- take_tenant_archive: one of the tenants that are being archived -> this beat's, for as long as its lease lasts. The one that
-- nobody has worked on for longest comes first.
WITH one AS MATERIALIZED (
    SELECT tenant FROM punctual_tenant_archive
    WHERE state = 'RUNNING' AND (held_until IS NULL OR held_until < clock_timestamp())
      AND tenant <> ALL (%(but)s::text[])
    ORDER BY updated_at
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE punctual_tenant_archive a
SET holder = %(holder)s, fence = a.fence + 1, held_until = clock_timestamp() + make_interval(secs => %(lease)s),
    updated_at = clock_timestamp()
FROM one
WHERE a.tenant = one.tenant AND a.state = 'RUNNING' AND (a.held_until IS NULL OR a.held_until < clock_timestamp())
RETURNING a.tenant, a.fence

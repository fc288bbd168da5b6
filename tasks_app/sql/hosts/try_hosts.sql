-- try_hosts: of these hosts that are unwell, those that this batch may try with one task: their time has come, and no other
-- batch is at it. One whose worker died is no longer, as soon as it was reaped.
-- Who had to wait for the row looks at it again: at a value, for of a NOT EXISTS PostgreSQL would only repeat what it had found.
WITH due AS MATERIALIZED (
    SELECT e.id
    FROM unnest(%(tenants)s::text[], %(hosts)s::text[]) AS a(tenant, host)
    JOIN punctual_host_health e ON e.tenant = a.tenant AND e.host = a.host
    ORDER BY e.id
    FOR UPDATE OF e
)
UPDATE punctual_host_health e SET trying = %(batch_no)s
FROM due
WHERE e.id = due.id AND e.unwell_since IS NOT NULL AND e.try_at <= clock_timestamp()
  AND coalesce((SELECT b.finished_at IS NOT NULL FROM punctual_batch b WHERE b.batch_no = e.trying), TRUE)
RETURNING e.tenant, e.host

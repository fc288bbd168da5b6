-- lock_to_defer: lock_batch, and in the same order of id the current rows of the units that its tasks have deferred to.
-- Locked separately, they could deadlock with a transaction that locks both kinds by id.
WITH b AS MATERIALIZED (
    SELECT batch_no FROM punctual_batch
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
    FOR NO KEY UPDATE
), wanted AS MATERIALIZED (
    SELECT unnest(%(ids)s::bigint[]) AS id
    UNION
    SELECT t.id
    FROM unnest(%(tenants)s::text[], %(types)s::text[], %(keys)s::text[]) AS u(tenant, task_type, biz_key)
    JOIN punctual_task t ON t.biz_key = u.biz_key AND t.task_type = u.task_type AND t.tenant = u.tenant AND t.current
), seen AS MATERIALIZED (
    SELECT t.id, t.status = 'RUNNING' AND t.batch_no = b.batch_no AS ours
    FROM b CROSS JOIN wanted JOIN punctual_task t ON t.id = wanted.id
    ORDER BY t.id
    FOR UPDATE OF t
)
SELECT (SELECT coalesce(array_agg(id) FILTER (WHERE ours), '{}') FROM seen) FROM b

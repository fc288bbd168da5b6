-- past_idem: the rows among what is over, and in their hot time, that hold these idempotency keys.
-- Asked after an insert among what is live: whoever moved such a row away meanwhile has committed before that insert.
SELECT u.tenant, u.idem_key, newest.id
FROM unnest(%(tenants)s::text[], %(idem_keys)s::text[]) AS u(tenant, idem_key)
CROSS JOIN LATERAL (
    SELECT p.id
    FROM unnest(%(classes)s::text[], %(hot)s::float8[]) AS c(name, hot)
    JOIN punctual_past p ON p.retention = c.name AND p.updated_at >= statement_timestamp() - make_interval(secs => c.hot)
    WHERE p.tenant = u.tenant AND p.idem_key = u.idem_key
    ORDER BY p.id DESC
    LIMIT 1
) AS newest

-- past_idem: the rows among what is over, and in their hot time, that hold these idempotency keys.
-- Asked after an insert among what is live: whoever moved such a row away meanwhile has committed before that insert.
WITH
--include sieves
SELECT u.tenant, u.idem_key, newest.id
FROM unnest(%(tenants)s::text[], %(idem_keys)s::text[]) AS u(tenant, idem_key)
CROSS JOIN LATERAL punctual_idem_mark(u.tenant, u.idem_key) AS one(mark)
CROSS JOIN LATERAL (
    SELECT found.id
    FROM (
--include stretches
    ) AS s
    CROSS JOIN LATERAL (
        SELECT p.id
        FROM punctual_past p
        WHERE p.retention = s.retention AND p.updated_at >= s.since AND p.updated_at < s.until
          AND p.tenant = u.tenant AND p.idem_key = u.idem_key
        ORDER BY p.id DESC
        LIMIT 1
    ) AS found
    ORDER BY found.id DESC
    LIMIT 1
) AS newest

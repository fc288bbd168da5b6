-- past_units: the newest current rows of these units among what is over, as lock_current tells them, and when they were last
-- written to; nothing is locked.
-- Asked after a look at what is live, in a later snapshot: a row that was just moved is in one of the two.
-- What is out of the hot time of its class may be on its way to the archive, and is not known any more.
WITH
--include sieves
SELECT u.tenant, u.task_type, u.biz_key, newest.id, newest.status, FALSE, newest.idem_key, newest.updated_at
FROM unnest(%(tenants)s::text[], %(types)s::text[], %(keys)s::text[]) AS u(tenant, task_type, biz_key)
CROSS JOIN LATERAL punctual_unit_mark(u.tenant, u.task_type, u.biz_key) AS one(mark)
CROSS JOIN LATERAL (
    SELECT found.id, found.status, found.idem_key, found.updated_at
    FROM (
--include stretches
    ) AS s
    CROSS JOIN LATERAL (
        SELECT p.id, p.status, p.idem_key, p.updated_at
        FROM punctual_past p
        WHERE p.retention = s.retention AND p.updated_at >= s.since AND p.updated_at < s.until
          AND p.biz_key = u.biz_key AND p.task_type = u.task_type AND p.tenant = u.tenant AND p.current
        ORDER BY p.id DESC
        LIMIT 1
    ) AS found
    ORDER BY found.id DESC
    LIMIT 1
) AS newest

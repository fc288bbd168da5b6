-- past_units: the newest current rows of these units among what is over, as lock_current tells them, and when they were last
-- written to; nothing is locked.
-- Asked after a look at what is live, in a later snapshot: a row that was just moved is in one of the two.
-- What is out of the hot time of its class may be on its way to the archive, and is not known any more.
SELECT u.tenant, u.task_type, u.biz_key, newest.id, newest.status, FALSE, newest.idem_key, newest.updated_at
FROM unnest(%(tenants)s::text[], %(types)s::text[], %(keys)s::text[]) AS u(tenant, task_type, biz_key)
CROSS JOIN LATERAL (
    SELECT p.id, p.status, p.idem_key, p.updated_at
    FROM unnest(%(classes)s::text[], %(hot)s::float8[]) AS c(name, hot)
    JOIN punctual_past p ON p.retention = c.name AND p.updated_at >= statement_timestamp() - make_interval(secs => c.hot)
    WHERE p.biz_key = u.biz_key AND p.task_type = u.task_type AND p.tenant = u.tenant AND p.current
    ORDER BY p.id DESC
    LIMIT 1
) AS newest

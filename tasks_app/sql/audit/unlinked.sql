-- unlinked: of the next entries by time, those that have no place: how many wait for one, and which don't, or are there twice; and
-- where to go on. No key keeps an entry from having the number and the time of another, so each is compared with the next.
WITH ahead AS MATERIALIZED (
    SELECT e.id, e.created_at, coalesce(e.tenant, '') AS tenant FROM punctual_audit_entry e
    WHERE e.created_at >= %(at)s::timestamptz AND (e.created_at, e.id) > (%(at)s::timestamptz, %(id)s::bigint)
    ORDER BY e.created_at, e.id LIMIT %(step)s::int + 1
), stretch AS MATERIALIZED (
    SELECT a.*, count(*) OVER (PARTITION BY a.created_at, a.id) > 1 AS twice
    FROM ahead a ORDER BY a.created_at, a.id LIMIT %(step)s::int
), without AS MATERIALIZED (
    SELECT DISTINCT s.id, s.tenant, s.twice,
           NOT s.twice AND ((SELECT TRUE FROM punctual_audit_unchained u
                             WHERE u.entry_id = s.id AND u.created_at = s.created_at LIMIT 1) IS TRUE
                            OR (SELECT TRUE FROM punctual_audit_skipped u
                                WHERE u.tenant = s.tenant AND u.entry_id = s.id AND u.created_at = s.created_at LIMIT 1) IS TRUE)
           AS waits
    FROM stretch s
    WHERE (%(tenant)s::text IS NULL OR s.tenant = %(tenant)s::text)
      AND (s.twice OR (SELECT TRUE FROM punctual_audit_link k
                       WHERE k.entry_id = s.id AND k.tenant = s.tenant AND k.at = s.created_at LIMIT 1) IS NOT TRUE)
)
SELECT (SELECT count(*) FROM stretch), (SELECT count(*) FROM without WHERE waits),
       (SELECT coalesce(array_agg(id ORDER BY id, tenant), '{}') FROM without WHERE NOT waits),
       (SELECT coalesce(array_agg(tenant ORDER BY id, tenant), '{}') FROM without WHERE NOT waits),
       (SELECT coalesce(array_agg(twice ORDER BY id, tenant), '{}') FROM without WHERE NOT waits), last.created_at, last.id
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (SELECT created_at, id FROM stretch ORDER BY created_at DESC, id DESC LIMIT 1) AS last ON TRUE

-- hold_subscriptions: renew those that this beat delivers, and take of those that nobody does, up to a fair share.
-- Nobody waits for anybody (SKIP LOCKED). Who has more than its share lets go of some when it is between two deliveries.
-- Those that beats hung on are held by no beat: their events wait in the outbox.
-- A beat of a site that is not the active one holds nothing, and is no one to share with.
WITH share AS MATERIALIZED (
    SELECT ceil((SELECT count(*) FROM punctual_subscription WHERE state = 'ACTIVE')::float8 / count(*))::bigint AS number
    FROM (
        SELECT node_id FROM punctual_node
        WHERE kind = 'BEAT' AND site = %(site)s AND seen_at > clock_timestamp() - make_interval(secs => %(ttl)s)
          AND seen_at < clock_timestamp() + make_interval(secs => %(ttl)s)
        UNION SELECT %(node_id)s::uuid
    ) AS live
), seen AS MATERIALIZED (
    SELECT id, holder = %(node_id)s AND lease_until >= clock_timestamp() AS own
    FROM punctual_subscription
    WHERE state = 'ACTIVE' AND id <> ALL (%(skipped)s::bigint[])
      AND (holder IS NULL OR holder = %(node_id)s OR lease_until < clock_timestamp()
           OR lease_until > clock_timestamp() + 2 * make_interval(secs => %(ttl)s))  -- before the clock was set back
), wanted AS MATERIALIZED (
    SELECT id, TRUE AS own FROM seen WHERE own
    UNION ALL (
        SELECT id, FALSE FROM seen WHERE own IS NOT TRUE
        ORDER BY id LIMIT greatest(0, (SELECT number FROM share) - (SELECT count(*) FROM seen WHERE own))
    )
), locked AS MATERIALIZED (
    SELECT s.id, w.own
    FROM wanted w JOIN punctual_subscription s ON s.id = w.id
    -- Asked again under the lock: whoever took it since the look keeps it.
    WHERE s.state = 'ACTIVE'
      AND CASE WHEN w.own THEN s.holder = %(node_id)s
               ELSE s.holder IS NULL OR s.holder = %(node_id)s OR s.lease_until < clock_timestamp()
                    OR s.lease_until > clock_timestamp() + 2 * make_interval(secs => %(ttl)s) END
      AND NOT EXISTS (SELECT FROM punctual_installation i WHERE i.site IS DISTINCT FROM %(site)s)
    ORDER BY s.id
    FOR NO KEY UPDATE OF s SKIP LOCKED
), held AS (
    UPDATE punctual_subscription s
    SET lease_until = clock_timestamp() + make_interval(secs => %(ttl)s), holder = %(node_id)s, holder_name = %(name)s,
        fence = s.fence + (NOT l.own)::int
    FROM locked l WHERE s.id = l.id
    RETURNING s.id, s.fence
)
SELECT share.number, held.id, held.fence FROM share LEFT JOIN held ON TRUE

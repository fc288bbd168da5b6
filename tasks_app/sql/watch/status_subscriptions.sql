-- status_subscriptions: each with how far it is behind: the events in the windows that it has not read to their end, and
-- since when the first of them waits. Of a tenant's own subscription, the events of this tenant: how much others do is none of
-- its business. Windows of a version before don't say whose their events are. Those with trouble first. NULL: of all tenants.
SELECT s.id, s.tenant, s.name, s.sink, s.state, s.reason, s.holder_name, s.delivered, s.attempts, s.last_error,
       date_part('epoch', clock_timestamp() - s.failing_since), date_part('epoch', s.next_try_at - clock_timestamp()),
       coalesce(behind.events, 0), date_part('epoch', clock_timestamp() - behind.oldest),
       coalesce(s.window_no < (SELECT min(no) FROM punctual_outbox_window), FALSE)
FROM punctual_subscription s
CROSS JOIN LATERAL (
    SELECT sum(own.events)::bigint AS events, min(greatest(w.min_at, s.since)) AS oldest
    FROM punctual_outbox_window w
    CROSS JOIN LATERAL (
        SELECT CASE WHEN s.tenant IS NULL THEN w.count WHEN w.tenants IS NULL THEN 0 ELSE (w.tenants ->> s.tenant)::bigint END
    ) AS own(events)
    WHERE w.no >= s.window_no AND w.max_at >= coalesce(s.since, '-infinity') AND own.events IS NOT NULL
) AS behind
WHERE %(tenant)s::text IS NULL OR s.tenant = %(tenant)s
ORDER BY s.state = 'SUSPENDED' DESC, s.failing_since, behind.oldest, s.tenant NULLS FIRST, s.name
LIMIT %(most)s

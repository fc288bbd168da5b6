-- next_alert: what a channel is told next, if its holder still holds it; its permits are refilled on the way.
-- If more alerts wait than it has permits for, all of them are folded into a new one: that costs one permit.
WITH held AS (
    UPDATE punctual_alarm_channel c
    SET permits = least(c.most_per_hour, c.permits
                        + c.most_per_hour * date_part('epoch', clock_timestamp() - c.refilled_at) / 3600),
        refilled_at = clock_timestamp(), held_until = clock_timestamp() + make_interval(secs => %(lease)s)
    WHERE c.id = %(channel)s AND c.fence = %(fence)s AND c.enabled
    RETURNING c.id, c.kind, c.target, c.permits, c.most_per_hour
), waiting AS (
    SELECT a.id, a.kind, a.body, a.created_at, a.attempts FROM punctual_alarm_alert a
    WHERE a.channel = %(channel)s AND a.done_at IS NULL
    ORDER BY a.created_at, a.id
    LIMIT %(most)s
)
SELECT h.kind, h.target, h.permits, h.most_per_hour, w.id, w.kind, w.body, w.attempts,
       date_part('epoch', clock_timestamp() - w.created_at), w.created_at
FROM held h LEFT JOIN waiting w ON TRUE
ORDER BY w.created_at, w.id

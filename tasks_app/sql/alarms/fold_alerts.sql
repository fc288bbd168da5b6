-- fold_alerts: these alerts are told as one.
WITH one AS (
    INSERT INTO punctual_alarm_alert (id, channel, kind, body)
    SELECT %(id)s, c.id, 'digest', %(body)s::jsonb
    FROM punctual_alarm_channel c WHERE c.id = %(channel)s AND c.fence = %(fence)s
    RETURNING id
)
UPDATE punctual_alarm_alert a
SET done_at = clock_timestamp(), outcome = 'FOLDED', folded_into = one.id
FROM one WHERE a.id = ANY (%(ids)s::uuid[]) AND a.done_at IS NULL
RETURNING a.id

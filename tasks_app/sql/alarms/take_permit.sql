-- take_permit: one alert may be sent to this channel now, out of turn; nothing if it has had its alerts.
UPDATE punctual_alarm_channel c
SET permits = now.permits - 1, refilled_at = clock_timestamp()
FROM (
    SELECT id, least(most_per_hour, permits
                     + most_per_hour * date_part('epoch', clock_timestamp() - refilled_at) / 3600) AS permits
    FROM punctual_alarm_channel WHERE id = %(channel)s FOR UPDATE
) AS now
WHERE c.id = now.id AND now.permits >= 1
RETURNING 1

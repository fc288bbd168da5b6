-- write_alerts: what these channels are to be told. Another alert about an incident is left out while the channel has not
-- got the one before it; that it is well again is always told.
INSERT INTO punctual_alarm_alert (id, channel, incident, kind, body)
SELECT u.id, u.channel, u.incident, u.kind, u.body::jsonb
FROM unnest(%(ids)s::uuid[], %(channels)s::bigint[], %(incidents)s::bigint[], %(kinds)s::text[], %(bodies)s::text[])
     AS u(id, channel, incident, kind, body)
WHERE u.kind <> 'again' OR NOT EXISTS (
    SELECT FROM punctual_alarm_alert a
    WHERE a.incident = u.incident AND a.channel = u.channel AND a.done_at IS NULL)

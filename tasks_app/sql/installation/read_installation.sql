-- read_installation: the row, with its ages as of now, and the signs of life. No row: no process of this installation has
-- recorded itself yet.
SELECT i.uid, i.environment, i.facts::text, i.state, i.reason, i.since, i.changed_by, beat.at, i.held_before,
       i.held_lanes::text[], i.silent_since, i.answer::text, date_part('epoch', clock_timestamp() - beat.at)::float8,
       date_part('epoch', clock_timestamp()
                 - greatest(beat.at, (SELECT max(n.seen_at) FROM punctual_node n WHERE n.kind = 'BEAT')))::float8,
       (SELECT coalesce(jsonb_object_agg(s.address, date_part('epoch', clock_timestamp() - s.at)), '{}')
        FROM punctual_sign s WHERE s.kind = 'standby')::text,
       i.site, i.next_site, i.site_epoch, i.site_since, i.site_recovery,
       date_part('epoch', clock_timestamp()
                 - greatest(beat.at, i.site_since,
                            (SELECT max(n.seen_at) FROM punctual_node n
                             WHERE n.kind = 'BEAT' AND n.site = coalesce(i.next_site, i.site))))::float8
FROM punctual_installation i
CROSS JOIN LATERAL (
    SELECT (SELECT s.at FROM punctual_sign s WHERE s.kind = 'beat' AND s.address = '') AS at
) AS beat
WHERE i.id = 1

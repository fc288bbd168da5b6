-- read_installation: the row, with its ages as of now. No row: nothing of this installation has looked yet.
SELECT i.uid, i.environment, i.facts::text, i.state, i.reason, i.since, i.changed_by, i.seen_at, i.held_before,
       i.held_lanes::text[], i.silent_since, i.answer::text, date_part('epoch', clock_timestamp() - i.seen_at)::float8,
       date_part('epoch', clock_timestamp()
                 - greatest(i.seen_at, (SELECT max(n.seen_at) FROM punctual_node n WHERE n.kind = 'BEAT')))::float8,
       (SELECT coalesce(jsonb_object_agg(s.key, date_part('epoch', clock_timestamp()) - s.value::text::float8), '{}')
        FROM jsonb_each(i.standbys) AS s)::text,
       i.site, i.next_site, i.site_epoch, i.site_since, i.site_recovery,
       date_part('epoch', clock_timestamp()
                 - greatest(i.seen_at, i.site_since,
                            (SELECT max(n.seen_at) FROM punctual_node n
                             WHERE n.kind = 'BEAT' AND n.site = coalesce(i.next_site, i.site))))::float8
FROM punctual_installation i
WHERE i.id = 1

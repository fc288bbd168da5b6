-- wanted: live worker slots, beats that dispatch, how many slots were busy on average in the last two whole minutes, and whether tasks
-- have begun to start late.
SELECT (SELECT coalesce(sum(n.slots), 0) FROM punctual_node n
        WHERE n.kind = 'WORKER' AND n.seen_at > clock_timestamp() - make_interval(secs => %(node_ttl)s))::int,
       (SELECT count(*) FROM punctual_node n
        WHERE n.kind = 'BEAT' AND n.renewed_at > clock_timestamp() - make_interval(secs => %(lease)s))::int,
       (SELECT coalesce(sum(p.run_us), 0) / 120e6 FROM punctual_pulse p
        WHERE p.minute >= date_trunc('minute', now()) - interval '2 minutes' AND p.minute < date_trunc('minute', now()))::float8,
       EXISTS (SELECT FROM punctual_safeguard s WHERE s.name = 'delay' AND (s.stage > 0 OR s.over_since IS NOT NULL))

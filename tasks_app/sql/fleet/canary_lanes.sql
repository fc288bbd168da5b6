-- canary_lanes: of each lane, whether it is not paused or slowed down and a live worker consumes it, and whether any worker is known that
-- does or did: one that died is, for an hour; one that said goodbye is not. Those of a site that stands by serve nothing, nor do
-- those that are drained.
SELECT l.lane,
       coalesce(bool_or(n.drained_at IS NULL AND n.seen_at > clock_timestamp() - make_interval(secs => %(node_ttl)s)), FALSE)
           AND NOT EXISTS (SELECT FROM punctual_lane_pause p WHERE p.lane = l.lane)
           AND NOT EXISTS (SELECT FROM punctual_curb c WHERE c.kind = 'lane' AND c.target = l.lane),
       count(n.node_id) > 0
FROM unnest(%(lanes)s::text[]) WITH ORDINALITY AS l(lane, place)
LEFT JOIN punctual_node n ON n.kind = 'WORKER' AND l.lane = ANY (n.lanes)
                         AND n.site = coalesce((SELECT coalesce(i.next_site, i.site) FROM punctual_installation i), n.site)
GROUP BY l.lane, l.place
ORDER BY l.place

-- service_lanes: of each lane what decides whether it is served: its workers, its pauses and its canary; and up to which
-- minute all that has finished has committed. A lane that a safeguard holds or slows down is paused, too.
-- A worker that is drained serves none.
SELECT l.lane,
       coalesce(bool_or(n.drained_at IS NULL AND n.seen_at > clock_timestamp() - make_interval(secs => %(node_ttl)s)), FALSE),
       count(n.node_id) > 0,
       least((SELECT p.paused_at FROM punctual_lane_pause p WHERE p.lane = l.lane),
             (SELECT min(c.since) FROM punctual_curb c WHERE c.kind = 'lane' AND c.target = l.lane)),
       (SELECT r.resumed_at FROM punctual_lane_resume r WHERE r.lane = l.lane),
       c.created_at, c.every,
       date_trunc('minute', clock_timestamp() - make_interval(secs => %(settled)s))
FROM unnest(%(lanes)s::text[]) AS l(lane)
LEFT JOIN punctual_node n ON n.kind = 'WORKER' AND l.lane = ANY (n.lanes)
LEFT JOIN LATERAL (
    SELECT t.created_at, t.repeat_after AS every FROM punctual_task t
    WHERE t.task_type = %(type)s AND t.current AND t.status <> 'CANCELLED'
      AND t.biz_key = l.lane AND t.tenant = %(tenant)s
) AS c ON TRUE
GROUP BY l.lane, c.created_at, c.every

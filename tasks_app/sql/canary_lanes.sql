-- canary_lanes: lanes that are not paused and that a live worker consumes.
SELECT DISTINCT lane
FROM node CROSS JOIN LATERAL unnest(lanes) AS served(lane)
WHERE kind = 'WORKER' AND seen_at > clock_timestamp() - make_interval(secs => %(node_ttl)s)
  AND NOT EXISTS (SELECT FROM lane_pause p WHERE p.lane = served.lane)
ORDER BY lane

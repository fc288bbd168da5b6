-- Those of the ids that are due within `ahead` and may be claimed, locked. Shared by claim_ids and claim_chosen.
    SELECT array_position(%(lanes)s::text[], t.lane::text) AS lane_no, t.ctid AS spot, t.id, t.task_type, t.solo, t.due_at
    FROM punctual_task t
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.lane = ANY (%(lanes)s::text[]) AND NOT t.limited
      AND t.due_at <= (SELECT clock_timestamp() + make_interval(secs => %(ahead)s))
      AND NOT EXISTS (SELECT FROM punctual_installation i WHERE i.state = 'QUARANTINED' OR i.site IS DISTINCT FROM %(site)s)
      AND NOT EXISTS (SELECT FROM punctual_installation i WHERE t.lane = ANY (i.held_lanes) AND t.due_at < i.held_before)
      AND t.shard <> ALL (ARRAY(
          SELECT l.shard FROM unnest(%(shards)s::smallint[], %(fences)s::bigint[]) AS held(shard, fence)
          JOIN punctual_shard_lease l ON l.shard = held.shard AND l.fence > held.fence))
    ORDER BY t.id
    FOR NO KEY UPDATE SKIP LOCKED

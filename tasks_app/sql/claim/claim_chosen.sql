-- claim_chosen: rows of a contended lane that were just read and chosen by tenant -> RUNNING, with the ids of each batch.
-- Rows that were moved, cancelled or paused after they were read are skipped, and so are rows of a lost shard (see claim).
WITH due AS MATERIALIZED (
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
--include claim.batches
--include claim.inserted
    , ids

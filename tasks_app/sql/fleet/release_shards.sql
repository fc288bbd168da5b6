-- release_shards: this beat dispatches no more. Its shards are free at once, and it takes no share until it holds
-- again. Returns the other beats, to be told.
WITH free AS (
    UPDATE punctual_shard_lease SET holder = NULL, lease_until = clock_timestamp() WHERE holder = %(node_id)s
), me AS (
    UPDATE punctual_node SET renewed_at = NULL WHERE node_id = %(node_id)s
)
SELECT node_id::text FROM punctual_node
WHERE kind = 'BEAT' AND node_id <> %(node_id)s
  AND renewed_at > clock_timestamp() - make_interval(secs => %(ttl)s)

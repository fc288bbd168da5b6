-- free_leases: shards and subscriptions of beats that have not been heard of for longer than they may be are free at once.
-- For those who can't wait until the leases have run out. A beat that was only slow to report gets a share again, and can do
-- no harm until then: a claim, or a cursor, with an older fencing number finds nothing.
WITH alive AS MATERIALIZED (
    SELECT node_id FROM punctual_node
    WHERE kind = 'BEAT' AND seen_at > clock_timestamp() - make_interval(secs => %(ttl)s)
      AND seen_at < clock_timestamp() + make_interval(secs => %(ttl)s)
), shards AS (
    UPDATE punctual_shard_lease SET holder = NULL, lease_until = clock_timestamp()
    WHERE holder IS NOT NULL AND holder NOT IN (SELECT node_id FROM alive)
    RETURNING holder_name
), subscriptions AS (
    UPDATE punctual_subscription SET holder = NULL, holder_name = '', fence = fence + 1, lease_until = clock_timestamp()
    WHERE holder IS NOT NULL AND holder NOT IN (SELECT node_id FROM alive)
    RETURNING id
)
SELECT (SELECT count(*) FROM shards), (SELECT count(*) FROM subscriptions),
       ARRAY(SELECT DISTINCT holder_name FROM shards ORDER BY 1), ARRAY(SELECT node_id::text FROM alive)

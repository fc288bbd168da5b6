-- clear_fleet: no beat holds a shard or a subscription any more, and workers of other sites than the chosen one have no
-- slots: nobody waits until leases have run out, or claims for who may start nothing.
-- Nobody waits for rows that somebody has locked (SKIP LOCKED): those go by their leases.
WITH leases AS MATERIALIZED (
    SELECT shard FROM punctual_shard_lease WHERE holder IS NOT NULL FOR UPDATE SKIP LOCKED
), shards AS (
    UPDATE punctual_shard_lease l SET holder = NULL, lease_until = clock_timestamp()
    FROM leases WHERE l.shard = leases.shard
), followed AS MATERIALIZED (
    SELECT id FROM punctual_subscription WHERE holder IS NOT NULL FOR UPDATE SKIP LOCKED
), subscriptions AS (
    UPDATE punctual_subscription s
    SET holder = NULL, holder_name = '', fence = fence + 1, lease_until = clock_timestamp()
    FROM followed WHERE s.id = followed.id
), others AS MATERIALIZED (
    SELECT node_id FROM punctual_node WHERE site <> %(site)s FOR UPDATE SKIP LOCKED
), idle AS (
    UPDATE punctual_node n SET slots = 0, renewed_at = NULL FROM others WHERE n.node_id = others.node_id
)
SELECT n.node_id::text FROM punctual_node n WHERE n.kind = 'BEAT' AND n.site = %(site)s

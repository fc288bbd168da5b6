-- hold_shards: renew what this beat holds, take all that nobody holds, and if that is less than a fair share, the rest
-- from those who hold more than theirs.
-- Nobody waits for anybody (SKIP LOCKED). Shares that two newcomers take at once are made even again by the next look,
-- and a claim needs no lease to be right.
-- A beat of a site that is not the active one holds nothing.
-- A beat that renewed at a moment far ahead did so before the clock was set back, and not since: its lease may have an hour
-- to go, but counts as run out. If it is alive, it contends again within a third of its lease.
-- It also reads what beats hung on: no beat works before it knows what to skip.
-- It is also the sign of life of a beat that may dispatch, which comes as often: it would be a statement of its own.
WITH
--include report_beat
,
--include sign_of_life
, total AS MATERIALIZED (
    SELECT count(*) AS shards FROM punctual_shard_lease
), fleet AS MATERIALIZED (
    SELECT node_id, total.shards / count(*) OVER ()
        + (row_number() OVER (ORDER BY node_id) <= total.shards %% count(*) OVER ())::int AS share
    FROM total, (
        SELECT node_id FROM punctual_node
        WHERE kind = 'BEAT' AND renewed_at > clock_timestamp() - make_interval(secs => %(ttl)s)
          AND renewed_at < clock_timestamp() + make_interval(secs => %(ttl)s)
        UNION SELECT %(node_id)s::uuid
    ) AS contending
), seen AS MATERIALIZED (
    SELECT l.shard, l.holder, l.lease_until,
           CASE WHEN l.holder = %(node_id)s THEN 'OWN' WHEN l.holder IS NULL THEN 'FREE'
                WHEN l.lease_until < clock_timestamp()
                  OR n.renewed_at > clock_timestamp() + make_interval(secs => %(ttl)s) THEN 'EXPIRED'
                ELSE 'HELD' END AS found
    FROM punctual_shard_lease l LEFT JOIN punctual_node n ON n.node_id = l.holder
), spare AS (
    SELECT s.shard, s.nth
    FROM (
        SELECT *, row_number() OVER (PARTITION BY holder ORDER BY shard) AS nth, count(*) OVER (PARTITION BY holder) AS held
        FROM seen WHERE found = 'HELD'
    ) AS s
    LEFT JOIN fleet ON fleet.node_id = s.holder
    WHERE s.nth <= s.held - coalesce(fleet.share, 0)
), wanted AS MATERIALIZED (
    SELECT shard, found, lease_until FROM seen WHERE found <> 'HELD'
    UNION ALL (
        SELECT shard, 'SHARED', NULL FROM spare
        ORDER BY nth, shard
        LIMIT greatest(0, (SELECT share FROM fleet WHERE node_id = %(node_id)s)
                          - (SELECT count(*) FROM seen WHERE found <> 'HELD'))
    )
), locked AS MATERIALIZED (
    SELECT l.shard, w.found, l.holder, l.holder_name
    FROM wanted w JOIN punctual_shard_lease l ON l.shard = w.shard
    -- Asked again under the lock: whoever took it since the look keeps it, and its fencing number is its own.
    WHERE CASE w.found WHEN 'OWN' THEN l.holder = %(node_id)s WHEN 'FREE' THEN l.holder IS NULL
                       WHEN 'EXPIRED' THEN l.lease_until = w.lease_until ELSE TRUE END
      AND NOT EXISTS (SELECT FROM punctual_installation i WHERE i.site IS DISTINCT FROM %(site)s)
    ORDER BY l.shard
    FOR UPDATE OF l SKIP LOCKED
), held AS (
    UPDATE punctual_shard_lease l
    SET lease_until = clock_timestamp() + make_interval(secs => %(ttl)s), holder = %(node_id)s, holder_name = %(name)s,
        fence = l.fence + (k.found <> 'OWN')::int,
        taken_at = CASE k.found WHEN 'OWN' THEN l.taken_at ELSE clock_timestamp() END,
        taken_how = CASE k.found WHEN 'OWN' THEN l.taken_how ELSE k.found END,
        taken_from = CASE k.found WHEN 'OWN' THEN l.taken_from ELSE k.holder_name END
    FROM locked k
    WHERE l.shard = k.shard
    RETURNING l.shard, l.fence, k.found, k.holder, k.holder_name
)
SELECT total.shards, date_part('epoch', (SELECT min(lease_until) FROM seen WHERE found = 'HELD') - clock_timestamp()),
       held.shard, held.fence, held.found, CASE held.found WHEN 'SHARED' THEN held.holder::text END, held.holder_name,
       (SELECT json_agg(json_build_array(kind, place, item, skipped_at IS NOT NULL)) FROM punctual_stall)
FROM total LEFT JOIN held ON TRUE

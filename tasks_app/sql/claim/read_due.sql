-- read_due: what is due in a crowded lane of these shards, the earliest first, from the moment given for each shard on: whose
-- it is. At most `most` rows of each shard are looked at, and those of tenants in `full` are only counted: of them enough is known.
-- Returns for each shard how many were looked at, up to which due time, and when.
WITH now AS MATERIALIZED (
    SELECT clock_timestamp() AS at,
           coalesce((SELECT i.held_before FROM punctual_installation i WHERE %(lane)s = ANY (i.held_lanes)), '-infinity') AS held
)
SELECT s.shard, (SELECT at FROM now), d.seen, d.upto, d.ids, d.tenants, d.dues
FROM unnest(%(shards)s::smallint[], %(since)s::timestamptz[], %(most)s::int[]) AS s(shard, since, most)
CROSS JOIN LATERAL (
    SELECT count(*)::int AS seen, max(due_at) AS upto,
           coalesce(array_agg(id) FILTER (WHERE wanted), '{}') AS ids,
           coalesce(array_agg(tenant::text) FILTER (WHERE wanted), '{}') AS tenants,
           coalesce(array_agg(date_part('epoch', due_at)) FILTER (WHERE wanted), '{}') AS dues
    FROM (
        SELECT t.id, t.tenant, t.due_at, t.tenant <> ALL (%(full)s::text[]) AS wanted
        FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = %(lane)s AND NOT t.limited
          AND t.due_at >= greatest(s.since, (SELECT held FROM now)) AND t.due_at <= (SELECT at FROM now)
        ORDER BY t.due_at
        LIMIT s.most
    ) AS one
) AS d

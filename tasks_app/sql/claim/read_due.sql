-- read_due: what is due in a crowded lane of these shards, the earliest first, from the moment given for each shard on: how much
-- of it is whose. At most `most` rows of each shard are looked at. Which they are is told of tenants that are not `named`, or
-- `only` of those, and if there are no more than `light` of them: of the others it is enough to know that there are many.
-- Returns for each shard how many were looked at, up to which due time, and when; and for each tenant how many, and when the
-- first was due.
WITH now AS MATERIALIZED (
    SELECT clock_timestamp() AS at,
           coalesce((SELECT i.held_before FROM punctual_installation i WHERE %(lane)s = ANY (i.held_lanes)), '-infinity') AS held
), found AS MATERIALIZED (
    SELECT s.shard, d.id, d.tenant, d.due_at
    FROM unnest(%(shards)s::smallint[], %(since)s::timestamptz[], %(most)s::int[]) AS s(shard, since, most)
    CROSS JOIN LATERAL (
        SELECT t.id, t.tenant, t.due_at
        FROM punctual_task t
        WHERE t.shard = s.shard AND t.lane = %(lane)s AND NOT t.limited
          AND t.due_at >= greatest(s.since, (SELECT held FROM now)) AND t.due_at <= (SELECT at FROM now)
        ORDER BY t.due_at
        LIMIT s.most
    ) AS d
)
SELECT s.shard, NULL AS tenant, (SELECT at FROM now), coalesce(f.seen, 0)::int AS seen, f.upto, NULL::float8 AS first,
       NULL::bigint[] AS ids, NULL::float8[] AS dues
FROM unnest(%(shards)s::smallint[]) AS s(shard)
LEFT JOIN (SELECT shard, count(*) AS seen, max(due_at) AS upto FROM found GROUP BY shard) AS f USING (shard)
UNION ALL
SELECT NULL, tenant, NULL, count(*)::int, NULL, date_part('epoch', min(due_at)),
       CASE WHEN (tenant::text IN (SELECT unnest(%(named)s::text[]))) = %(only)s AND count(*) <= %(light)s THEN array_agg(id) END,
       CASE WHEN (tenant::text IN (SELECT unnest(%(named)s::text[]))) = %(only)s AND count(*) <= %(light)s
            THEN array_agg(date_part('epoch', due_at)) END
FROM found
GROUP BY tenant

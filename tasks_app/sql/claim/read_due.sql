-- read_due: the due tasks in a contended lane of these shards by tenant, the earliest first, from the due time given for
-- each shard.
-- Reads at most `most` rows of each shard. Returns the ids for tenants that are not `named`, or `only` for those, if there
-- are no more than `light` of them: for the other tenants it is enough to know that there are many.
-- In most cases no ids are needed. So the first pass only counts rows by shard and tenant, and a second pass collects the
-- ids if there are any: collecting ids that are not needed took as long as everything else.
-- Returns for each shard how many rows were read, up to which due time, and when; and for each tenant how many, and the
-- first due time.
WITH now AS MATERIALIZED (
    SELECT clock_timestamp() AS at,
           coalesce((SELECT i.held_before FROM punctual_installation i WHERE %(lane)s = ANY (i.held_lanes)), '-infinity') AS held
), counted AS MATERIALIZED (
    SELECT s.shard, d.tenant::text AS tenant, count(*)::int AS seen, min(d.due_at) AS first, max(d.due_at) AS upto
    FROM unnest(%(shards)s::smallint[], %(since)s::timestamptz[], %(most)s::int[]) AS s(shard, since, most)
--include passed_in
    CROSS JOIN LATERAL (
--include due_of_shard
    ) AS d
    GROUP BY GROUPING SETS ((s.shard), (d.tenant))
), few AS MATERIALIZED (
    SELECT array_agg(c.tenant) AS tenants FROM counted c
    WHERE c.seen <= %(light)s AND (c.tenant IN (SELECT unnest(%(named)s::text[]))) = %(only)s
), told AS MATERIALIZED (
    SELECT d.tenant::text AS tenant, array_agg(d.id) AS ids, array_agg(date_part('epoch', d.due_at)) AS dues
    FROM unnest(%(shards)s::smallint[], %(since)s::timestamptz[], %(most)s::int[]) AS s(shard, since, most)
--include passed_in
    CROSS JOIN LATERAL (
--include due_of_shard
    ) AS d
    WHERE (SELECT tenants FROM few) IS NOT NULL AND d.tenant = ANY ((SELECT tenants FROM few)::text[])
    GROUP BY d.tenant
)
SELECT s.shard, NULL AS tenant, (SELECT at FROM now), coalesce(c.seen, 0) AS seen, c.upto, NULL::float8 AS first,
       NULL::bigint[] AS ids, NULL::float8[] AS dues
FROM unnest(%(shards)s::smallint[]) AS s(shard)
LEFT JOIN counted c ON c.shard = s.shard
UNION ALL
SELECT NULL, c.tenant, NULL, c.seen, NULL, date_part('epoch', c.first), t.ids, t.dues
FROM counted c
LEFT JOIN told t ON t.tenant = c.tenant
WHERE c.tenant IS NOT NULL

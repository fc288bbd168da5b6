-- write_links: these entries have their places now, and wait no longer. One that does not wait gets none.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(%(tenants)s::text[], %(places)s::bigint[], %(entries)s::bigint[], %(ats)s::timestamptz[],
                         %(digests)s::bytea[], %(hashes)s::bytea[])
         AS given(tenant, place, entry_id, at, digest, hash)
), waited AS (
    DELETE FROM punctual_audit_unchained u USING given g WHERE u.entry_id = g.entry_id RETURNING u.entry_id
)
INSERT INTO punctual_audit_link (tenant, place, entry_id, at, chained_at, digest, hash)
SELECT g.tenant, g.place, g.entry_id, g.at, %(chained_at)s::timestamptz, g.digest, g.hash
FROM given g JOIN waited USING (entry_id)
RETURNING entry_id

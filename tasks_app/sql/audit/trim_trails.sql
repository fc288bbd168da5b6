-- trim_trails: forget the places at the beginning of trails whose entries are gone with their months, and remember the last
-- hash of them. A place stays as long as one before it does, or was given after that month: so whoever knows how far a trail
-- went at a time after it knows that no more than this may be gone.
-- What has no head stays, and takes no room in a step from what goes.
-- Each trail is looked up for itself (LIMIT and OFFSET keep the planner from a join): it reads what goes, and no whole table.
WITH old AS MATERIALIZED (
    SELECT tenant, max(place) AS place
    FROM (
        SELECT tenant, place FROM punctual_audit_link k
        WHERE at < %(before)s::timestamptz
          AND (SELECT TRUE FROM punctual_audit_trail t WHERE t.tenant = k.tenant AND t.floor_place < k.place LIMIT 1)
        ORDER BY at LIMIT %(step)s::int
    ) AS few
    GROUP BY tenant
), ends AS MATERIALIZED (
    SELECT o.tenant, least(o.place, kept.place - 1) AS place
    FROM old o LEFT JOIN LATERAL (
        SELECT k.place FROM punctual_audit_link k
        WHERE k.tenant = o.tenant AND k.place <= o.place
          AND (k.at >= %(before)s::timestamptz OR k.chained_at >= %(before)s::timestamptz)
        ORDER BY k.place LIMIT 1
    ) AS kept ON TRUE
), hashes AS MATERIALIZED (
    SELECT e.tenant, k.place, k.hash
    FROM ends e CROSS JOIN LATERAL (
        SELECT place, hash FROM punctual_audit_link k WHERE k.tenant = e.tenant AND k.place = e.place LIMIT 1
    ) AS k
), floors AS (
    UPDATE punctual_audit_trail t SET floor_place = h.place, floor_hash = h.hash
    FROM hashes h WHERE t.tenant = h.tenant AND t.floor_place < h.place
    RETURNING t.tenant, t.floor_place
), waiting AS (
    DELETE FROM punctual_audit_unchained WHERE created_at < %(before)s::timestamptz
), missing AS (
    DELETE FROM punctual_audit_missing WHERE created_at < %(before)s::timestamptz
), skipped AS (
    DELETE FROM punctual_audit_skipped WHERE created_at < %(before)s::timestamptz
)
DELETE FROM punctual_audit_link
WHERE ctid = ANY (ARRAY(
    SELECT k.ctid FROM floors f CROSS JOIN LATERAL (
        SELECT ctid FROM punctual_audit_link k WHERE k.tenant = f.tenant AND k.place <= f.floor_place OFFSET 0
    ) AS k
))
RETURNING place

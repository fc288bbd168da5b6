-- trim_trails: forget the places at the beginning of trails whose entries are gone with their months, and remember the last
-- hash of them. A place stays as long as one before it does, or was given after that month: so whoever knows how far a trail
-- went at a time after it knows that no more than this may be gone.
WITH old AS MATERIALIZED (
    SELECT tenant, max(place) AS place
    FROM (SELECT tenant, place FROM punctual_audit_link WHERE at < %(before)s::timestamptz ORDER BY at LIMIT %(step)s::int) AS some
    GROUP BY tenant
), ends AS MATERIALIZED (
    SELECT o.tenant, least(o.place, kept.place - 1) AS place
    FROM old o LEFT JOIN LATERAL (
        SELECT k.place FROM punctual_audit_link k
        WHERE k.tenant = o.tenant AND k.place <= o.place AND (k.at >= %(before)s::timestamptz OR k.chained_at >= %(before)s::timestamptz)
        ORDER BY k.place LIMIT 1
    ) AS kept ON TRUE
), floors AS (
    UPDATE punctual_audit_trail t SET floor_place = k.place, floor_hash = k.hash
    FROM ends e JOIN punctual_audit_link k ON k.tenant = e.tenant AND k.place = e.place
    WHERE t.tenant = e.tenant AND t.floor_place < k.place
    RETURNING t.tenant, t.floor_place
), waiting AS (
    DELETE FROM punctual_audit_unchained WHERE created_at < %(before)s::timestamptz
)
DELETE FROM punctual_audit_link k USING floors f WHERE k.tenant = f.tenant AND k.place <= f.floor_place
RETURNING k.place

-- note_used: how much of their quotas tenants use now, for the hour that it is: the most of it, and the last of it. Whoever uses
-- nothing is not among them: of those, what the last two hours say of the last is put to nothing, and no row is written for them.
WITH this AS MATERIALIZED (
    SELECT date_trunc('hour', now(), 'UTC') AS hour
), seen AS MATERIALIZED (
    SELECT tenant, quota, used, most
    FROM unnest(%(tenants)s::text[], %(quotas)s::text[], %(used)s::bigint[], %(most)s::bigint[]) AS s(tenant, quota, used, most)
), rested AS (
    UPDATE punctual_quota_use u SET last = 0
    FROM this
    WHERE u.hour >= this.hour - interval '1 hour' AND u.last > 0
      AND (u.hour < this.hour OR NOT EXISTS (SELECT FROM seen s WHERE s.tenant = u.tenant AND s.quota = u.quota))
)
INSERT INTO punctual_quota_use AS u (tenant, quota, hour, used, last, most)
SELECT s.tenant, s.quota, this.hour, s.used, s.used, s.most FROM seen s CROSS JOIN this
ORDER BY s.tenant, s.quota
ON CONFLICT (tenant, quota, hour) DO UPDATE
SET used = greatest(u.used, excluded.used), last = excluded.last, most = excluded.most
RETURNING 1

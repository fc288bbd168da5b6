-- fold_scopes: tries that workers have noted since the last look -> the minutes of their scopes. Returns what is new of each scope, in all
-- lanes: a replay that succeeds is a trial as any other. Only live tries open a breaker, so only they are kept.
-- A scope has a minute from its first failure on: one that always succeeds leaves no row.
WITH noted AS MATERIALIZED (
    DELETE FROM punctual_scope_outcome RETURNING tenant, target, backfill, ok, failed
), summed AS MATERIALIZED (
    SELECT tenant, target, sum(ok)::bigint AS ok, sum(failed)::bigint AS failed,
           coalesce(sum(ok) FILTER (WHERE NOT backfill), 0)::int AS live_ok,
           coalesce(sum(failed) FILTER (WHERE NOT backfill), 0)::int AS live_failed
    FROM noted
    GROUP BY tenant, target
), kept AS (
    INSERT INTO punctual_scope_minute AS m (target, tenant, minute, ok, failed)
    SELECT s.target, s.tenant, date_trunc('minute', now()), s.live_ok, s.live_failed
    FROM summed s
    WHERE s.live_failed > 0
       OR EXISTS (SELECT FROM punctual_scope_minute k WHERE k.target = s.target AND k.tenant = s.tenant)
    ON CONFLICT (target, tenant, minute) DO UPDATE SET ok = m.ok + excluded.ok, failed = m.failed + excluded.failed
)
SELECT tenant, target, ok, failed FROM summed

-- take_chores: report this beat, and take the chores that are due; a chore is taken by one beat each time.
-- One whose time is further away than it is ever set was set by a clock that has been set back since, or by another
-- setting: it is due, too.
-- A reap with nothing to reap is taken, done and not returned: that is the common case, and costs no second statement. So
-- is the look for silence while no lease of what is away has run out, the work on campaigns while there is none, or none
-- that another beat leaves to this one, the walk over what waits for others while nothing does, the work on what is overdue
-- while nobody has ordered any, the end of what recoveries hold while they hold nothing, the opening of lanes while no site was
-- activated, the work on tenants while none is suspended or has data to encrypt, the count of quotas while there is none, the
-- archiving of tenants while nobody has ordered any, the move to the past while nothing is
-- old enough, the sums of hours until ten minutes after the end of the next one, the look for alarms while there is no rule
-- (and none that was read for), the sending of alerts while none waits, and the chaining of the audit trail while all of it
-- is. What this beat wants to do in any case is never idle.
-- What this beat has done since its last look it tells along with this one, and how long ago that was.
WITH
--include report_beat
, idle AS MATERIALIZED (
    SELECT 'reap' AS name
    WHERE NOT EXISTS (SELECT FROM punctual_batch WHERE finished_at IS NULL AND lease_until < (SELECT clock_timestamp()))
    UNION ALL
    SELECT 'lose' WHERE NOT EXISTS (SELECT FROM punctual_away WHERE until < (SELECT clock_timestamp()))
    UNION ALL
    SELECT 'campaign'
    WHERE NOT EXISTS (SELECT FROM punctual_campaign
                      WHERE state = 'RUNNING' AND next_at <= (SELECT clock_timestamp())
                        AND (held_until IS NULL OR held_until < (SELECT clock_timestamp()))
                        AND NOT (
--include backfill_held
                        ))
      AND NOT EXISTS (SELECT FROM punctual_campaign WHERE measure_at <= (SELECT clock_timestamp())
                        AND (held_until IS NULL OR held_until < (SELECT clock_timestamp())))
    UNION ALL
    SELECT 'release' WHERE (SELECT min(task) FROM punctual_wait) IS NULL
    UNION ALL
    SELECT 'overdue' WHERE NOT EXISTS (SELECT FROM punctual_installation WHERE answer IS NOT NULL)
    UNION ALL
    SELECT 'unfreeze' WHERE NOT EXISTS (SELECT FROM punctual_curb WHERE name = 'recovery')
    UNION ALL
    SELECT 'site' WHERE NOT EXISTS (SELECT FROM punctual_installation WHERE site_recovery IS NOT NULL)
    UNION ALL
    SELECT 'tenants'
    WHERE (SELECT min(tenant) FROM punctual_held) IS NULL
      AND NOT EXISTS (SELECT FROM punctual_tenant WHERE state = 'SUSPENDED')
      AND NOT EXISTS (SELECT FROM punctual_key_walk WHERE state = 'RUNNING')
    UNION ALL
    SELECT 'quotas'
    WHERE NOT EXISTS (SELECT FROM punctual_tenant WHERE max_tasks IS NOT NULL OR max_jobs IS NOT NULL)
      AND NOT EXISTS (SELECT FROM punctual_tenant WHERE schedules_per_second IS NOT NULL)
      AND NOT EXISTS (SELECT FROM punctual_tenant WHERE max_running IS NOT NULL)
      AND (SELECT min(at) FROM punctual_schedule_count) IS NULL
    UNION ALL
    SELECT 'tenant_archive' WHERE NOT EXISTS (SELECT FROM punctual_tenant_archive WHERE state = 'RUNNING')
    UNION ALL
    SELECT 'move'
    WHERE coalesce((SELECT min(finished_at) FROM punctual_batch) >= clock_timestamp() - make_interval(secs => %(keep)s), TRUE)
    UNION ALL
    SELECT 'hours'
    WHERE coalesce((SELECT max(hour) + interval '1 hour' FROM punctual_hour_figures),
                   (SELECT date_trunc('hour', min(minute), 'UTC') FROM punctual_minute_figures),
                   clock_timestamp()) > clock_timestamp() - interval '70 minutes'
    UNION ALL
    SELECT 'alarm'
    WHERE NOT EXISTS (SELECT FROM punctual_alarm_rule WHERE enabled) AND NOT EXISTS (SELECT FROM punctual_alarm_reader)
    UNION ALL
    SELECT 'chain' WHERE (SELECT min(entry_id) FROM punctual_audit_unchained) IS NULL
    UNION ALL
    SELECT 'alert' WHERE (SELECT min(channel) FROM punctual_alarm_alert WHERE done_at IS NULL) IS NULL
), chore AS MATERIALIZED (
    SELECT e.name, given.every, given.idle, told.done_at,
           told.done_at > coalesce(e.failing_since, '-infinity') AS well,  -- a failure that came later stays
           given.name IS NOT NULL
           AND (e.next_at <= clock_timestamp() OR e.next_at > clock_timestamp() + make_interval(secs => given.every)) AS due
    FROM punctual_chore e
    LEFT JOIN (
        SELECT c.*, idle.name IS NOT NULL AND c.name <> ALL (%(wanted)s::text[]) AS idle
        FROM unnest(%(names)s::text[], %(everys)s::float8[]) AS c(name, every) LEFT JOIN idle USING (name)
    ) AS given ON given.name = e.name
    LEFT JOIN (
        SELECT d.name, clock_timestamp() - make_interval(secs => d.ago) AS done_at
        FROM unnest(%(done)s::text[], %(ago)s::float8[]) AS d(name, ago)
    ) AS told ON told.name = e.name
    WHERE told.name IS NOT NULL
       OR given.name IS NOT NULL
          AND (e.next_at <= clock_timestamp() OR e.next_at > clock_timestamp() + make_interval(secs => given.every))
    ORDER BY e.name
    FOR NO KEY UPDATE OF e
), taken AS (
    UPDATE punctual_chore e
    SET next_at = CASE WHEN c.due THEN clock_timestamp() + make_interval(secs => c.every) ELSE e.next_at END,
        ran_at = CASE WHEN c.due THEN clock_timestamp() ELSE e.ran_at END,
        ran_by = CASE WHEN c.due THEN %(name)s ELSE e.ran_by END,
        done_at = CASE WHEN c.due AND c.idle THEN clock_timestamp() ELSE greatest(e.done_at, c.done_at) END,
        failures = CASE WHEN c.well OR c.due AND c.idle THEN 0 ELSE e.failures END,
        failing_since = CASE WHEN c.well OR c.due AND c.idle THEN NULL ELSE e.failing_since END,
        error = CASE WHEN c.well OR c.due AND c.idle THEN '' ELSE e.error END
    FROM chore c
    WHERE e.name = c.name
    RETURNING e.name, c.due AND NOT c.idle AS to_do
)
SELECT name FROM taken WHERE to_do

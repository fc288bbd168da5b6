-- count_rest: what else people watch, one figure a row; each is counted up to a bound, in an index of nothing else.
SELECT 'away_tasks', '', (SELECT count(*) FROM (SELECT FROM punctual_away LIMIT %(bound)s) AS few)
UNION ALL
SELECT 'open_dead_letters', '', (
    SELECT count(*) FROM (
        SELECT FROM punctual_dead_letter WHERE replay_status = 'OPEN' ORDER BY created_at, id LIMIT %(bound)s
    ) AS few)
UNION ALL
SELECT 'incidents', few.condition, count(*)
FROM (SELECT condition FROM punctual_alarm_incident WHERE closed_at IS NULL ORDER BY calm_at LIMIT %(bound)s) AS few
GROUP BY few.condition
UNION ALL
SELECT 'unwell_hosts', '', (
    SELECT count(*) FROM (SELECT FROM punctual_host_health WHERE unwell_since IS NOT NULL LIMIT %(bound)s) AS few)
UNION ALL
SELECT 'running_campaigns', few.kind, count(*)
FROM (SELECT kind FROM punctual_campaign WHERE state = 'RUNNING' ORDER BY next_at LIMIT %(bound)s) AS few
GROUP BY few.kind
UNION ALL
SELECT 'suspended_tenants', '', (
    SELECT count(*) FROM (SELECT FROM punctual_tenant WHERE state = 'SUSPENDED' LIMIT %(bound)s) AS few)
UNION ALL
SELECT 'held_tasks', '', (SELECT count(*) FROM (SELECT FROM punctual_held LIMIT %(bound)s) AS few)

-- gates: the rules for the gates of a beat: the limits of types, the strictest hold of each type by a safeguard, and the
-- suspended tenants. A hold on a single tenant passes the gate, and the worker returns the tasks.
SELECT 'limit', task_type, rate, burst, max_running FROM punctual_type_limit
UNION ALL
SELECT kind, target, min(rate), NULL, min(max_running) FROM punctual_curb
WHERE kind IN ('lane', 'type', 'retries') AND of_tenant = ''
GROUP BY kind, target
UNION ALL
SELECT 'tenant', name, NULL, NULL, NULL FROM punctual_tenant WHERE state = 'SUSPENDED'

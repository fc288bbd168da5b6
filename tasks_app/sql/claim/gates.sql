-- gates: the limits of types, what safeguards hold back, the strictest of each, and tenants that are suspended: all that the
-- gates of a beat go by. What is held back of one tenant alone passes them: a worker sends it back.
SELECT 'limit', task_type, rate, burst, max_running FROM punctual_type_limit
UNION ALL
SELECT kind, target, min(rate), NULL, min(max_running) FROM punctual_curb
WHERE kind IN ('lane', 'type', 'retries') AND of_tenant = ''
GROUP BY kind, target
UNION ALL
SELECT 'tenant', name, NULL, NULL, NULL FROM punctual_tenant WHERE state = 'SUSPENDED'

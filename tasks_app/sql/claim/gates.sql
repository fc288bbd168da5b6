-- gates: the limits of types, and what safeguards hold back, the strictest of each: all that the gates of a beat go by.
SELECT 'limit', task_type, rate, burst, max_running FROM punctual_type_limit
UNION ALL
SELECT kind, target, min(rate), NULL, min(max_running) FROM punctual_curb
WHERE kind IN ('lane', 'type', 'retries')
GROUP BY kind, target

-- check_deferred: a deferred effect is known to whoever deferred it, and only a success defers.
SELECT t.id, t.biz_key
FROM (
    SELECT * FROM
--rows
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
CROSS JOIN LATERAL (
    SELECT p.status, p.token, p.deferred, p.repeat_after FROM punctual_any_task p WHERE p.id = t.deferred_from LIMIT 1
) AS p
WHERE t.deferred_from IS NOT NULL AND t.replaces IS NULL AND p.repeat_after IS NULL
  AND (p.status <> 'SUCCESS' OR t.token <> p.token OR t.id = ANY (p.deferred) IS NOT TRUE)

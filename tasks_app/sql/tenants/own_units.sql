-- own_units: units that somebody has just scheduled who may change only their own: they are theirs from now on.
INSERT INTO punctual_owned_unit (tenant, task_type, biz_key, owner)
SELECT %(tenant)s::text, u.task_type, u.biz_key, %(owner)s::text
FROM unnest(%(types)s::text[], %(keys)s::text[]) AS u(task_type, biz_key)
ORDER BY u.biz_key, u.task_type
ON CONFLICT (biz_key, task_type, tenant) DO UPDATE SET owner = excluded.owner, at = now()

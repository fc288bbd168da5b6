-- mend_deferred: a success that deferred this task, under the same token, learns of it.
UPDATE punctual_task p
SET deferred = array_append(coalesce(p.deferred, '{}'), n.id)
FROM punctual_task n
WHERE n.id = %(id)s AND p.id = n.deferred_from AND p.status = 'SUCCESS' AND p.token = n.token
  AND n.id = ANY (p.deferred) IS NOT TRUE
RETURNING n.id

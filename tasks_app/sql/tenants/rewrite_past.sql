-- rewrite_past: the same of tasks that are over. They stay in their partition: neither its class nor its time is changed.
UPDATE punctual_past t
SET payload = g.payload::jsonb, result = g.result::jsonb, error_msg = g.error_msg
FROM unnest(%(ids)s::bigint[], %(payloads)s::text[], %(results)s::text[], %(errors)s::text[])
     AS g(id, payload, result, error_msg)
WHERE t.id = g.id
RETURNING t.id

-- rewrite_past: the same of tasks that are over. They stay in their partition: neither its class nor its time is changed.
UPDATE punctual_past t
SET payload = g.payload::jsonb, payload_bytes = g.payload_bytes, result = g.result::jsonb, error_msg = g.error_msg
FROM unnest(%(ids)s::bigint[], %(payloads)s::text[], %(payload_bytes)s::bytea[], %(results)s::text[], %(errors)s::text[])
     AS g(id, payload, payload_bytes, result, error_msg)
WHERE t.id = g.id
RETURNING t.id

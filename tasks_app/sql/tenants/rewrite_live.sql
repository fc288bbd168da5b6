-- rewrite_live: what is stored of these tasks, encrypted anew. The caller has locked them. One that runs is left as it is: what it
-- leaves behind is written by what it was given.
UPDATE punctual_task t
SET payload = g.payload::jsonb, payload_bytes = g.payload_bytes, result = g.result::jsonb, error_msg = g.error_msg
FROM unnest(%(ids)s::bigint[], %(payloads)s::text[], %(payload_bytes)s::bytea[], %(results)s::text[], %(errors)s::text[])
     AS g(id, payload, payload_bytes, result, error_msg)
WHERE t.id = g.id AND t.status NOT IN ('RUNNING', 'AWAY')
RETURNING t.id

-- spend_tokens: what is left in the buckets after this claim. Their rows are locked by the caller.
UPDATE type_limit l
SET tokens = s.tokens, filled_at = clock_timestamp()
FROM unnest(%(types)s::text[], %(tokens)s::float8[]) AS s(task_type, tokens)
WHERE l.task_type = s.task_type

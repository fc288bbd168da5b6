-- spend_tokens: what is left in the buckets after this claim, and which types have as many running as they may. Their rows
-- are locked by the caller.
UPDATE punctual_type_limit l
SET tokens = coalesce(s.tokens, l.tokens), filled_at = clock_timestamp(),
    full_at = CASE WHEN s.is_full THEN clock_timestamp() ELSE l.full_at END
FROM unnest(%(types)s::text[], %(tokens)s::float8[], %(full)s::bool[]) AS s(task_type, tokens, is_full)
WHERE l.task_type = s.task_type

-- spend_permits: the remaining permits after this claim, and the types that have reached max_running. The caller has locked
-- the rows.
UPDATE punctual_type_limit l
SET permits = coalesce(s.permits, l.permits), filled_at = clock_timestamp(),
    full_at = CASE WHEN s.is_full THEN clock_timestamp() ELSE l.full_at END
FROM unnest(%(types)s::text[], %(permits)s::float8[], %(full)s::bool[]) AS s(task_type, permits, is_full)
WHERE l.task_type = s.task_type

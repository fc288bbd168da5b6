-- suspend_subscription: its receiver could not be reached for too long. Only by who still delivers it.
UPDATE punctual_subscription
SET state = 'SUSPENDED', reason = %(reason)s, updated_at = clock_timestamp(), next_try_at = NULL,
    holder = NULL, holder_name = '', fence = fence + 1
WHERE id = %(id)s::bigint AND holder = %(node_id)s AND fence = %(fence)s::bigint AND state = 'ACTIVE'
RETURNING coalesce(tenant, 'internal'), name

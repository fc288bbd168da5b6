-- hold_leaving: renew the lease on a partition that is being written; no row if somebody else took it over.
UPDATE punctual_leaving SET held_until = clock_timestamp() + make_interval(secs => %(lease)s)
WHERE name = %(name)s AND fence = %(fence)s
RETURNING fence

-- release_subscriptions: nobody delivers these now; the next beat that looks takes them.
UPDATE punctual_subscription SET holder = NULL, holder_name = '', lease_until = clock_timestamp()
WHERE holder = %(node_id)s AND id = ANY (%(ids)s::bigint[])

-- surviving_events: which of these rows of the outbox are on this server, too. A failover may take numbers back that were
-- given out, so a row with the number of another is told from it by its time.
SELECT o.id, o.created_at
FROM punctual_outbox o
WHERE o.id = ANY (%(ids)s::bigint[]) AND o.created_at >= %(min_at)s AND o.created_at <= %(max_at)s

-- load_events: these rows of the outbox, with all that they carry.
SELECT
--include outbox_columns
FROM punctual_outbox o
WHERE o.id = ANY (%(ids)s::bigint[]) AND o.created_at >= %(min_at)s AND o.created_at <= %(max_at)s
ORDER BY o.id

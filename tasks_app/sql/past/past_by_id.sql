-- past_by_id: rows of what is over by their ids, last written to between these moments: other partitions are not opened.
SELECT
--include columns
    , retention, worker
FROM punctual_past
WHERE id = ANY (%(ids)s::bigint[]) AND updated_at >= %(since)s::timestamptz AND updated_at <= %(until)s::timestamptz

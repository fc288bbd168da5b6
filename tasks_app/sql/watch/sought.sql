-- What a list looks through: what is live, and of the past only the time in which a match can lie, so that PostgreSQL opens
-- no other partition.
(
        SELECT
--include columns
        FROM punctual_task WHERE id < %(live_below)s::bigint
        UNION ALL
        SELECT
--include columns
        FROM punctual_past WHERE updated_at >= %(past_from)s::timestamptz AND updated_at < %(past_to)s::timestamptz
    )

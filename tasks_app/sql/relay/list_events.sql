-- list_events: the next rows in the order in which every subscriber gets them, without what they carry.
-- Window after window, and in each by id. A window without a row to come is one row without an id: it has been read.
WITH w AS MATERIALIZED (
    SELECT no, before::pg_snapshot AS before, after::pg_snapshot AS after, floor_id, max_id, min_at, max_at,
           greatest(min_id, CASE WHEN no = %(window_no)s::bigint THEN %(row_id)s::bigint ELSE 0 END) AS from_id
    FROM punctual_outbox_window WHERE no >= %(window_no)s::bigint ORDER BY no LIMIT %(windows)s::int
)
SELECT w.no, o.id, o.created_at, o.tenant, o.event, o.task_type, o.count
FROM w LEFT JOIN LATERAL (
    SELECT o.id, o.created_at, o.tenant, o.event, o.task_type, o.count
    FROM punctual_outbox o
    WHERE o.id >= w.from_id AND o.id <= w.max_id
      AND o.created_at >= greatest(w.min_at, %(since)s::timestamptz) AND o.created_at <= w.max_at
      AND (w.before IS NULL OR (o.id > w.floor_id AND pg_visible_in_snapshot(o.xid, w.after)
                                AND NOT pg_visible_in_snapshot(o.xid, w.before)))
    ORDER BY o.id LIMIT %(rows)s::int
) AS o ON TRUE
ORDER BY w.no, o.id
LIMIT %(rows)s::int

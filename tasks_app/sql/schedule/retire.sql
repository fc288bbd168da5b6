-- retire: a row gives up `current` to the one that takes over; one whose run is under way is CANCELLED by that.
-- The idem_key leaves with the intent: it can be held by one row only.
WITH u AS (
    SELECT * FROM unnest(%(ids)s::bigint[], %(statuses)s::text[], %(hand_on)s::bool[]) AS given(id, status, hand_on)
),
--include retired
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.error_code, t.error_msg, u.status AS was
),
--include retired_from
, news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, r.id, r.tenant, r.task_type, r.biz_key AS key, r.job, r.fire_time, NULL::text AS idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', r.error_code, 'reason', r.error_msg, 'by', %(by)s::text) AS data, TRUE AS with_data
    FROM retired r WHERE r.was IN ('RUNNING', 'AWAY')
),
--include tell
SELECT id FROM retired

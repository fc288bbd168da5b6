-- tell_moved: rows that this transaction has given another time are told, with the one they have now and the one before.
-- The transaction has them locked, so nobody has changed them since. What is back at its old time has not moved.
WITH news AS NOT MATERIALIZED (
    SELECT 'task.updated' AS event, t.id, t.tenant, t.task_type, t.biz_key AS key, t.job, t.fire_time, t.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, t.status AS state,
           jsonb_build_object('old', u.was, 'new', t.due_at) AS data, TRUE AS with_data
    FROM unnest(%(ids)s::bigint[], %(was)s::timestamptz[]) AS u(id, was) JOIN punctual_task t ON t.id = u.id
    WHERE t.due_at <> u.was
),
--include tell
SELECT 1

-- gather_window: what was committed since the last window, as this look's snapshot has it.
-- A transaction that the last snapshot did not see has a number from its end on, or was under way: its list has those. So
-- nothing is looked at twice, however long somebody's transaction lasts.
-- Nearly all rows have an id beyond the floor, so that is no way to find any: + 0 keeps the index out of it.
-- It writes nothing: the number that record_window's transaction then gets is beyond this snapshot, and so is every
-- number that is given out after a crash, if the window has survived it.
WITH last AS MATERIALIZED (
    SELECT no, after, floor_id, pg_snapshot_xmax(after::pg_snapshot) AS xmax,
           ARRAY(SELECT pg_snapshot_xip(after::pg_snapshot)) AS under_way
    FROM punctual_outbox_window ORDER BY no DESC LIMIT 1
), found AS MATERIALIZED (
    SELECT o.id, o.created_at, o.count, o.tenant, o.event, o.task_type, o.xid
    FROM punctual_outbox o WHERE o.xid >= (SELECT xmax FROM last) AND o.id + 0 > (SELECT floor_id FROM last)
    UNION ALL
    SELECT o.id, o.created_at, o.count, o.tenant, o.event, o.task_type, o.xid
    FROM punctual_outbox o WHERE o.xid = ANY ((SELECT under_way FROM last)::xid8[]) AND o.id + 0 > (SELECT floor_id FROM last)
), seen AS MATERIALIZED (
    SELECT id, created_at, count, tenant, event, task_type FROM found WHERE pg_visible_in_snapshot(xid, pg_current_snapshot())
)
SELECT pg_current_snapshot()::text, last.no, last.after, last.floor_id,
       gathered.min_id, gathered.max_id, gathered.min_at, gathered.max_at, gathered.events, whose.tenants,
       gathered.topics
FROM (VALUES (1)) AS one LEFT JOIN last ON TRUE
CROSS JOIN (
    SELECT min(id) AS min_id, max(id) AS max_id, min(created_at) AS min_at, max(created_at) AS max_at,
           sum(count)::bigint AS events, jsonb_agg(DISTINCT jsonb_build_array(tenant, event, task_type)) AS topics
    FROM seen
) AS gathered
CROSS JOIN (
    SELECT jsonb_object_agg(tenant, events) AS tenants FROM (SELECT tenant, sum(count) AS events FROM seen GROUP BY tenant) AS own
) AS whose

-- take_back_families: the instances that these ones, which were taken back, had brought along are gone too, with their waits
-- and their run. Nobody has begun them: what is first in the run was not. They are found by their run, and by who waits for
-- whom: a run may be gone before its tasks are.
WITH RECURSIVE below(id) AS (
    SELECT w.task FROM unnest(%(ids)s::bigint[]) AS one(id)
    CROSS JOIN LATERAL (SELECT task FROM punctual_wait WHERE parent = one.id ORDER BY task LIMIT 100000) AS w
    UNION
    SELECT w.task FROM below b
    CROSS JOIN LATERAL (SELECT task FROM punctual_wait WHERE parent = b.id ORDER BY task LIMIT 100000) AS w
), run AS MATERIALIZED (
    DELETE FROM punctual_run r USING unnest(%(labels)s::text[]) AS u(label)
    WHERE r.job = %(job)s AND r.label = u.label
    RETURNING r.label, r.nodes
), mine AS MATERIALIZED (
    SELECT t.id
    FROM run
    CROSS JOIN LATERAL jsonb_array_elements(run.nodes) AS node
    CROSS JOIN LATERAL (
        SELECT id FROM punctual_task
        WHERE biz_key = (node ->> 0) || ':' || run.label AND job = (node ->> 0)::bigint AND current AND status = 'BLOCKED'
        LIMIT 1
    ) AS t
    UNION
    SELECT id FROM below
), held AS MATERIALIZED (
    SELECT t.id FROM punctual_task t WHERE t.id = ANY (ARRAY(SELECT id FROM mine)) AND t.status = 'BLOCKED'
    ORDER BY t.id FOR UPDATE
), gone AS (
    DELETE FROM punctual_task t USING held WHERE t.id = held.id AND t.status = 'BLOCKED'
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key
), waits AS (
    DELETE FROM punctual_wait w USING gone WHERE w.task = gone.id
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, g.id, g.tenant, g.task_type, g.biz_key AS key, g.job, g.fire_time, g.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', 'TAKEN_BACK', 'reason', 'what it waits for was taken back', 'by', %(by)s::text) AS data, TRUE AS with_data
    FROM gone g
),
--include tell
SELECT count(*) FROM gone

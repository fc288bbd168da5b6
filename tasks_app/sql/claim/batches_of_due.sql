-- The rows in `due` become batches, and are moved into them; batches_told ends it. Shared by claim, claim_in_order,
-- claim_ids, claim_chosen and claim_limited.
-- The commit need not wait for the disk: the worker's start does, before any handler is called, and what lies before it
-- in the log is on disk with it. A claim that a crash takes back was started by nobody, and its rows are due as before.
), type AS MATERIALIZED (
    SELECT task_type, row_number() OVER () AS type_no FROM (SELECT DISTINCT task_type FROM due) AS seen
), kind AS (
    -- One number for type, lane and solo: sorting thousands of rows by text costs more than all the rest. Ties in order
    -- of id: then a batch has neighbours of one page, and a herd empties all shards alike instead of one by one.
    SELECT number, array_agg(id ORDER BY due_at, id) AS ids, array_agg(spot ORDER BY due_at, id) AS spots,
           array_agg(due_at ORDER BY due_at, id) AS dues
    FROM (SELECT type_no * 64 + lane_no * 2 + solo::int AS number, id, spot, due_at FROM due JOIN type USING (task_type)) AS one
    GROUP BY number
), batch AS MATERIALIZED (
    SELECT gen_random_uuid() AS batch_no, (%(lanes)s::text[])[lane_no] AS lane, task_type, ids, spots, first, first_due,
           %(limits)s::jsonb -> task_type AS bucket
    FROM (
        SELECT lane.no AS lane_no, type.task_type, part AS first, kind.dues[part] AS first_due,
               kind.ids[part : part + size.rows - 1] AS ids,
               kind.spots[part : part + size.rows - 1] AS spots,
               row_number() OVER (PARTITION BY lane.no ORDER BY kind.dues[part]) AS place
        FROM kind
        JOIN type ON type.type_no = kind.number / 64
        LEFT JOIN unnest(%(types)s::text[], %(sizes)s::int[]) AS pace(task_type, size) USING (task_type)
        CROSS JOIN LATERAL (SELECT kind.number %% 64 / 2) AS lane(no)
        CROSS JOIN LATERAL (
            SELECT CASE kind.number %% 2 WHEN 1 THEN 1 ELSE coalesce(pace.size, %(unseen)s) END
        ) AS size(rows)
        CROSS JOIN LATERAL generate_series(1, cardinality(kind.ids), size.rows) AS part
    ) AS ranked
    WHERE place <= (%(allowed)s::int[])[lane_no]
), flat AS MATERIALIZED (
    -- All of it in one row, so that the UPDATE reads no join whose size PostgreSQL's planner would have to guess. Nobody asks
    -- for it if there is one batch, as mostly in a backlog.
    SELECT array_agg(id ORDER BY id) AS ids, array_agg(batch_no ORDER BY id) AS batch_nos
    FROM (SELECT batch_no, unnest(ids) AS id FROM batch) AS one
), moved AS (
    UPDATE punctual_task t
    SET status = 'RUNNING',
        batch_no = CASE WHEN (SELECT count(*) FROM batch) = 1 THEN (SELECT batch_no FROM batch LIMIT 1)
                        ELSE (SELECT batch_nos FROM flat)[width_bucket(t.id, (SELECT ids FROM flat))] END,
        claimed_due = t.due_at, due_at = NULL, updated_at = clock_timestamp()
    WHERE t.ctid = ANY (ARRAY(SELECT unnest(spots) FROM batch)) AND t.status IN ('INIT', 'FAIL', 'SUCCESS')

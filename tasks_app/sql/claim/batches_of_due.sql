-- The rows in `due` become batches, and are moved into them; batches_told ends it. Shared by claim, claim_in_order,
-- claim_ids, claim_chosen and claim_limited.
-- The commit need not wait for the disk: the worker's start does, before any handler is called, and what lies before it
-- in the log is on disk with it. A claim that a crash takes back was started by nobody, and its rows are due as before.
), type AS (
    SELECT task_type, row_number() OVER () type_no FROM (SELECT DISTINCT task_type FROM due) seen
), kind AS (
    -- One number for type, lane and solo: sorting thousands of rows by text costs more than all the rest. Ties in order
    -- of id: then a batch has neighbours of one page, and a herd empties all shards alike instead of one by one.
    SELECT number, array_agg(id ORDER BY due_at, id) ids, array_agg(spot ORDER BY due_at, id) spots,
           array_agg(due_at ORDER BY due_at, id) dues
    FROM (SELECT type_no * 64 + lane_no * 2 + solo::int number, id, spot, due_at FROM due JOIN type USING (task_type)) one
    GROUP BY number
), ranked AS (
    SELECT lane_no, task_type, part first, dues[part] first_due,
           ids[part : part + rows - 1] ids,
           spots[part : part + rows - 1] spots,
           row_number() OVER (PARTITION BY lane_no ORDER BY dues[part]) place
    FROM kind
    JOIN type ON type_no = number / 64
    LEFT JOIN unnest(%(types)s::text[], %(sizes)s::int[]) AS pace(task_type, size) USING (task_type)
    , LATERAL (
        SELECT number %% 64 / 2 lane_no, CASE number %% 2 WHEN 1 THEN 1 ELSE coalesce(size, %(unseen)s) END rows
    ) of_it
    , generate_series(1, cardinality(ids), rows) part
), batch AS (
    SELECT gen_random_uuid() batch_no, (%(lanes)s::text[])[lane_no] lane, task_type, ids, spots, first, first_due
    FROM ranked
    WHERE place <= (%(allowed)s::int[])[lane_no]
), flat AS (
    -- All of it in one row, so that the UPDATE reads no join whose size PostgreSQL's planner would have to guess. Nobody asks
    -- for it if there is one batch, as mostly in a backlog.
    SELECT array_agg(id ORDER BY id) ids, array_agg(batch_no ORDER BY id) batch_nos
    FROM (SELECT batch_no, unnest(ids) id FROM batch) one
), moved AS (
    UPDATE punctual_task t
    SET status = 'RUNNING',
        batch_no = CASE (SELECT count(*) FROM batch) WHEN 1 THEN (SELECT batch_no FROM batch LIMIT 1)
                        ELSE (SELECT batch_nos FROM flat)[width_bucket(id, (SELECT ids FROM flat))] END,
        claimed_due = due_at, due_at = NULL, wait_at = NULL, updated_at = clock_timestamp()
    WHERE ctid = ANY (ARRAY(SELECT unnest(spots) FROM batch)) AND status IN ('INIT', 'FAIL', 'SUCCESS')

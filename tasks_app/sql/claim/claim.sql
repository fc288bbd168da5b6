-- claim: due rows of some shards and lanes -> RUNNING, in new batches of one type and lane each. Plan: docs/kernel.md#claim
-- SKIP LOCKED lets many dispatchers work side by side. Rows due within `ahead` seconds are included; workers wait for them.
-- A shard whose fence has grown belongs to another beat and returns no rows. Types with a limit are left to claim_limited.
-- Parts of it are included in claim_in_order, claim_chosen and claim_limited.
-- part due
WITH wanted AS (
    SELECT lane, rows, lane_no, since_id, clock_timestamp() + %(ahead)s * interval '1 s' until,
           greatest(to_timestamp(since), (SELECT held_before FROM punctual_installation WHERE lane = ANY (held_lanes))) since
    FROM unnest(%(lanes)s::text[], %(rows)s::int[], %(since)s::float8[], %(ids)s::bigint[]) WITH ORDINALITY
         w(lane, rows, since, since_id, lane_no)
    WHERE NOT EXISTS (SELECT FROM punctual_installation WHERE state = 'QUARANTINED' OR site IS DISTINCT FROM %(site)s)
), due AS (
    SELECT w.lane_no, d.*
    FROM wanted w
    CROSS JOIN (
        SELECT h.shard, p.passed FROM unnest(%(shards)s::smallint[], %(fences)s::bigint[]) h(shard, fence)
        LEFT JOIN punctual_timetable p ON p.shard = h.shard AND noted_at <= now()
        WHERE NOT EXISTS (SELECT FROM punctual_shard_lease l WHERE l.shard = h.shard AND l.fence > h.fence)
    ) s, LATERAL (
        -- `spot` is the row's place. The lock keeps it there, so the UPDATE needs no index to find it.
        SELECT * FROM (
            SELECT s.shard line, ctid spot, id, task_type, solo, due_at
            FROM punctual_task
            WHERE shard = s.shard AND lane = w.lane
              AND (entry_at, id) >= (greatest(w.since, (s.passed ->> w.lane)::timestamptz), w.since_id) AND entry_at <= w.until
              AND due_at IS NOT NULL AND wait_at IS NULL
            ORDER BY entry_at, id
            LIMIT w.rows
            FOR NO KEY UPDATE SKIP LOCKED
        ) entry
        UNION ALL
        SELECT * FROM (
            SELECT ~s.shard, ctid, id, task_type, solo, due_at
            FROM punctual_task
            WHERE shard = s.shard AND lane = w.lane AND NOT limited AND wait_at BETWEEN w.since AND w.until
            ORDER BY wait_at
            LIMIT w.rows
            FOR NO KEY UPDATE SKIP LOCKED
        ) apart
    ) d
-- part batches
), type AS (
    SELECT task_type, row_number() OVER () type_no FROM (SELECT DISTINCT task_type FROM due) seen
), kind AS (
    -- One number for type, lane and solo, since sorting thousands of rows by text is slow. Ties are in order of id: a batch
    -- then has rows of one page, and a mass due time empties all shards evenly.
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
    -- One row of arrays: the planner cannot misjudge the size of a join. Not evaluated if there is one batch.
    SELECT array_agg(id ORDER BY id) ids, array_agg(batch_no ORDER BY id) batch_nos
    FROM (SELECT batch_no, unnest(ids) id FROM batch) one
), moved AS (
    UPDATE punctual_task t
    SET status = 'RUNNING',
        batch_no = CASE (SELECT count(*) FROM batch) WHEN 1 THEN (SELECT batch_no FROM batch LIMIT 1)
                        ELSE (SELECT batch_nos FROM flat)[width_bucket(id, (SELECT ids FROM flat))] END,
        claimed_due = due_at, due_at = NULL, wait_at = NULL, updated_at = clock_timestamp()
    WHERE ctid = ANY (ARRAY(SELECT unnest(spots) FROM batch)) AND status IN ('INIT', 'FAIL', 'SUCCESS')
-- part inserted
)
-- allowed_at: if the lane was resumed after the tasks were due, lateness counts from then.
INSERT INTO punctual_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, allowed_at)
SELECT batch_no, task_type, lane, ids, %(dispatcher)s, clock_timestamp(),
       clock_timestamp() + %(lease)s * interval '1 s',
       (SELECT resumed_at FROM punctual_lane_resume r WHERE r.lane = batch.lane AND resumed_at > first_due)
FROM batch
WHERE (SELECT set_config('synchronous_commit', 'off', TRUE)) = 'off'
RETURNING batch_no::text, lane, task_type, cardinality(ids)
-- end
    -- Where the next claim of each lane continues: the due time and id of the first row that this one left.
    , (SELECT jsonb_object_agg(lane_no, at) FROM (
        SELECT lane_no, min(at) at FROM (
            SELECT lane_no, ARRAY[date_part('epoch', first_due), ids[1]] at FROM ranked WHERE place > (%(allowed)s::int[])[lane_no]
            UNION ALL
            SELECT lane_no, ARRAY[date_part('epoch', max(due_at)), (array_agg(id))[count(*)]]
            FROM due GROUP BY lane_no, line HAVING count(*) >= (%(rows)s::int[])[lane_no]
        ) one GROUP BY lane_no
    ) seen)::text

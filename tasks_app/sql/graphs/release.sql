-- release: BLOCKED rows -> INIT, due, once what they wait for has happened; or CANCELLED, if it never will and their job
-- says so, or if nothing is left for them to do. Run after the commit of what ended a parent, never with it: of two parents
-- that end at the same time, whoever looks later sees both, without a lock on anything. Looking twice does nothing twice.
-- How a parent ended is read from its row, among what is live; in the past only if nobody has noted it in time: `noting`
-- writes down what has been over for a while, since the mover takes it away, and forgets what a replay has undone. What has
-- failed is noted by everybody: alarms look for that.
-- Due from now on, not from its fire time, which has passed: a dispatcher reads on from where its last look ended.
-- A firing that its job skipped, or replaced by a newer one, since it lets no two overlap, was not needed.
-- The waits of what is BLOCKED no more, since somebody cancelled it, are dropped.
WITH child AS MATERIALIZED (
--rows
), looked AS MATERIALIZED (
    SELECT c.task, t.job, t.id IS NOT NULL AS blocked
    FROM child c
    LEFT JOIN LATERAL (SELECT id, job FROM punctual_task WHERE id = c.task AND status = 'BLOCKED' LIMIT 1) AS t ON TRUE
), state AS MATERIALIZED (
    SELECT b.task, b.job, w.parent, w.ended AS noted, p.since,
           coalesce(p.ended, w.ended, (
               SELECT CASE WHEN g.error_code IN ('NOT_NEEDED', 'OVERLAP', 'OVERTAKEN') THEN 'NOT_NEEDED' ELSE g.status END
               FROM punctual_past g WHERE g.id = w.parent LIMIT 1), 'CANCELLED') AS ended
    FROM looked b
    CROSS JOIN LATERAL (SELECT parent, ended FROM punctual_wait WHERE task = b.task ORDER BY parent LIMIT 100000) AS w
    LEFT JOIN LATERAL (
        SELECT updated_at AS since,
               CASE WHEN status = 'CANCELLED' AND error_code IN ('NOT_NEEDED', 'OVERLAP', 'OVERTAKEN') THEN 'NOT_NEEDED'
                    WHEN status IN ('SUCCESS', 'DEAD', 'CANCELLED') THEN status
                    ELSE '' END AS ended
        FROM punctual_task WHERE id = w.parent LIMIT 1
    ) AS p ON TRUE
    WHERE b.blocked
), seen AS MATERIALIZED (
    SELECT task, min(job) AS job, bool_and(ended = 'SUCCESS') AS succeeded, bool_and(ended <> '') AS over,
           bool_or(ended IN ('DEAD', 'CANCELLED')) AS failed, bool_or(ended = 'NOT_NEEDED') AS idle
    FROM state GROUP BY task
), verdict AS MATERIALIZED (
    SELECT s.task,
           CASE j.run_when
               WHEN 'all_done' THEN CASE WHEN s.over THEN '' END
               WHEN 'any_failed' THEN CASE WHEN s.failed THEN '' WHEN s.over THEN 'NOT_NEEDED' END
               ELSE CASE WHEN s.succeeded THEN ''
                         WHEN s.failed THEN CASE j.if_parent_fails WHEN 'cancel' THEN 'PARENT_FAILED' END
                         WHEN s.idle THEN 'NOT_NEEDED' END
           END AS code
    FROM seen s
    -- A job that is paused holds what it has; one that is gone, by the usual rules.
    LEFT JOIN LATERAL (SELECT * FROM punctual_job d WHERE d.id = s.job LIMIT 1) AS j ON TRUE
    WHERE j.status IS DISTINCT FROM 'PAUSED'
), mine AS MATERIALIZED (
    SELECT t.id, v.code
    FROM (SELECT task, code FROM verdict WHERE code IS NOT NULL ORDER BY task) AS v
    CROSS JOIN LATERAL (
        SELECT id FROM punctual_task WHERE id = v.task AND status = 'BLOCKED' LIMIT 1 FOR NO KEY UPDATE
    ) AS t
), moved AS (
    UPDATE punctual_task t
    SET status = CASE mine.code WHEN '' THEN 'INIT' ELSE 'CANCELLED' END,
        due_at = CASE mine.code WHEN '' THEN greatest(t.execute_time, clock.now) END,
        error_code = mine.code,
        error_msg = CASE mine.code WHEN 'PARENT_FAILED' THEN 'a job that it waits for did not succeed'
                                   WHEN 'NOT_NEEDED' THEN 'none of the jobs that it waits for gave it anything to do'
                                   ELSE '' END,
        cancelled_by = CASE mine.code WHEN '' THEN t.cancelled_by ELSE 'system' END,
        finish_time = CASE mine.code WHEN '' THEN t.finish_time ELSE clock.now END, updated_at = clock_timestamp()
    FROM mine, (SELECT clock_timestamp() AS now) AS clock
    WHERE t.id = mine.id AND t.status = 'BLOCKED'
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.shard, t.due_at, t.execute_time,
              t.status, t.error_code, t.error_msg
), waits AS (
    -- In order, as insert_replacements locks them. What that has changed meanwhile is dropped by the next look.
    DELETE FROM punctual_wait WHERE ctid = ANY (ARRAY(
        SELECT w.spot FROM (SELECT id FROM moved ORDER BY id) AS m CROSS JOIN LATERAL (
            SELECT ctid AS spot FROM punctual_wait WHERE task = m.id ORDER BY parent LIMIT 100000 FOR UPDATE
        ) AS w))
), dropped AS (
    DELETE FROM punctual_wait WHERE ctid = ANY (ARRAY(
        SELECT w.spot FROM looked b CROSS JOIN LATERAL (
            SELECT ctid AS spot FROM punctual_wait WHERE task = b.task ORDER BY parent LIMIT 100000 FOR UPDATE SKIP LOCKED
        ) AS w WHERE NOT b.blocked))
), noted AS (
    UPDATE punctual_wait w SET ended = nullif(s.ended, '')
    FROM (
        SELECT k.spot, s.ended
        FROM state s
        CROSS JOIN LATERAL (
            SELECT ctid AS spot FROM punctual_wait WHERE task = s.task AND parent = s.parent LIMIT 1 FOR UPDATE SKIP LOCKED
        ) AS k
        WHERE s.ended <> coalesce(s.noted, '')
          AND (s.ended IN ('DEAD', 'CANCELLED') OR s.noted IS NOT NULL
               OR (%(noting)s AND s.ended <> '' AND (s.since IS NULL OR s.since < clock_timestamp() - interval '30 seconds')))
          AND NOT EXISTS (SELECT FROM mine WHERE mine.id = s.task)
    ) AS s
    WHERE w.ctid = s.spot
), news AS NOT MATERIALIZED (
    SELECT CASE m.status WHEN 'INIT' THEN 'task.released' ELSE 'task.cancelled' END AS event, m.id, m.tenant, m.task_type,
           m.biz_key AS key, m.job, m.fire_time, m.idem_key, NULL::text AS worker, NULL::uuid AS batch_no,
           NULL::int AS attempt, NULL::text AS state,
           CASE m.status WHEN 'INIT' THEN jsonb_build_object('at', m.due_at)
                ELSE jsonb_build_object('code', m.error_code, 'reason', m.error_msg, 'by', 'system') END AS data,
           TRUE AS with_data
    FROM moved m
),
--include tell
SELECT shard, count(*) FILTER (WHERE status = 'INIT'), date_part('epoch', min(due_at)),
       coalesce(array_agg(id) FILTER (WHERE status = 'CANCELLED'), '{}')
FROM moved GROUP BY shard

-- decide_turns: of the instances of these jobs whose time has come, who may run now, who waits and who is cancelled.
-- The caller has locked the jobs in a statement before this one: no other decision is made beside this, and what the last
-- one wrote is seen. What is decided, and its effect on the tasks, is one transaction: there is no step in between.
-- An older instance counts as long as it is live, whatever state that is; one that is over, in the past or gone does not.
-- Among those whose time has come, the newest that replaces goes first, and the older one is cancelled. Else, if nobody is
-- under way, the earliest goes. The others wait or are cancelled as their policy says.
-- What a backfill has made stands behind all others, and keeps none of them from running but while it runs itself: one that has
-- the turn and does not run gives it back (`yields`), and goes into line again; behind one that runs (`firm`), the next of the
-- others waits, whatever its policy, and with `replace` the newest of them.
-- No task is waited for: where one is locked, say by its settle, its job is put off and decided again in a moment.
-- What waited in line is late from now on; what goes at once is late from its time.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), holders AS MATERIALIZED (
    SELECT w.job, w.task, t.id IS NOT NULL AS under_way, w.policy = 'backfill' AS backfill,
           w.policy = 'backfill' AND t.status IN ('INIT', 'FAIL') AS idle
    FROM punctual_turn w
    LEFT JOIN LATERAL (
        SELECT t.id, t.status FROM punctual_task t WHERE t.id = w.task AND t.status <> 'BLOCKED' AND
--include live
        LIMIT 1
    ) AS t ON TRUE
    WHERE w.job = ANY (%(jobs)s::bigint[]) AND w.state = 'taken'
), line AS MATERIALIZED (
    SELECT w.job, w.task, w.at, w.policy, w.state, t.id IS NOT NULL AS waits,
           w.policy = 'replace' AS replaces, w.policy = 'backfill' AS backfill
    FROM unnest(%(jobs)s::bigint[]) AS j(job)
    CROSS JOIN LATERAL (
        (SELECT * FROM punctual_turn q
         WHERE q.job = j.job AND q.state = 'queued' AND q.policy <> 'backfill' ORDER BY q.at, q.task LIMIT %(most)s)
        UNION ALL
        (SELECT * FROM punctual_turn q
         WHERE q.job = j.job AND q.state = 'queued' AND q.policy = 'backfill' ORDER BY q.at, q.task LIMIT %(most)s)
        UNION ALL
        (SELECT * FROM punctual_turn n
         WHERE n.job = j.job AND n.state = 'new' AND n.at <= (SELECT now FROM clock) ORDER BY n.at, n.task LIMIT %(most)s)
    ) AS w
    LEFT JOIN LATERAL (
        SELECT t.id FROM punctual_task t WHERE t.id = w.task AND t.status = 'BLOCKED' LIMIT 1
    ) AS t ON TRUE
), held AS MATERIALIZED (
    SELECT job, min(task) AS by, bool_and(idle) AS yields, bool_and(backfill) AND NOT bool_and(idle) AS firm
    FROM holders WHERE under_way GROUP BY job
), chosen AS MATERIALIZED (
    SELECT DISTINCT ON (l.job) l.job, l.task, l.replaces
    FROM line l LEFT JOIN held USING (job)
    WHERE l.waits AND CASE WHEN held.by IS NULL THEN TRUE WHEN held.yields THEN NOT l.backfill
                           ELSE l.replaces AND NOT held.firm END
    ORDER BY l.job, l.replaces DESC, CASE WHEN l.replaces THEN l.at END DESC, CASE WHEN l.replaces THEN l.task END DESC,
             l.backfill, l.at, l.task
), others AS MATERIALIZED (
    -- All but those who go; `place` is that among those who want to wait, and `newer` how many of those that replace are.
    SELECT l.job, l.task, l.policy, l.state, coalesce(c.task, held.by) AS by, c.task IS NULL AND held.firm AS behind,
           row_number() OVER (PARTITION BY l.job, l.backfill, l.state = 'queued' OR l.policy IN ('queue_one', 'queue_all', 'skip')
                              ORDER BY l.state = 'queued' DESC, l.policy = 'skip', l.at, l.task) AS place,
           row_number() OVER (PARTITION BY l.job, l.replaces ORDER BY l.at DESC, l.task DESC) - 1 AS newer,
           first_value(l.task) OVER (PARTITION BY l.job, l.replaces ORDER BY l.at DESC, l.task DESC) AS newest
    FROM line l LEFT JOIN chosen c USING (job) LEFT JOIN held USING (job)
    WHERE l.waits AND l.task IS DISTINCT FROM c.task
), fates AS MATERIALIZED (
    SELECT l.job, l.task, 'go' AS fate, l.at, l.state, NULL::bigint AS by
    FROM chosen c JOIN line l USING (job, task)
    UNION ALL
    SELECT o.job, o.task,
           CASE WHEN o.policy IN ('queue_all', 'backfill') OR (o.policy = 'queue_one' AND o.place = 1)
                     OR (o.policy = 'skip' AND o.behind AND o.place = 1) OR (o.policy = 'replace' AND o.behind AND o.newer = 0)
                THEN 'queue'
                WHEN o.policy = 'replace' THEN 'overtaken' ELSE o.policy END, NULL, o.state,
           CASE WHEN o.policy = 'replace' AND o.behind THEN o.newest ELSE o.by END
    FROM others o WHERE o.state = 'new' OR (o.policy = 'replace' AND NOT (o.behind AND o.newer = 0))
    UNION ALL
    SELECT h.job, h.task, CASE WHEN h.idle THEN 'back' ELSE 'overtaken' END, NULL, 'taken', c.task
    FROM holders h JOIN chosen c USING (job)
    WHERE h.under_way AND (h.idle OR c.replaces)
), locked AS MATERIALIZED (
    SELECT t.id, t.status, t.due_at FROM punctual_task t
    WHERE t.id = ANY (ARRAY(SELECT task FROM fates WHERE fate <> 'queue')) AND
--include live
    ORDER BY t.id
    FOR NO KEY UPDATE SKIP LOCKED
), put_off AS MATERIALIZED (
    SELECT DISTINCT f.job FROM fates f
    WHERE f.fate <> 'queue' AND f.task NOT IN (SELECT id FROM locked WHERE f.fate <> 'back' OR status IN ('INIT', 'FAIL'))
), decided AS MATERIALIZED (
    SELECT f.* FROM fates f WHERE f.job NOT IN (SELECT job FROM put_off)
), moved AS (
    UPDATE punctual_task t
    SET status = 'INIT', due_at = CASE d.state WHEN 'queued' THEN clock.now ELSE d.at END,
        allowed_at = CASE d.state WHEN 'queued' THEN clock.now ELSE t.allowed_at END, updated_at = clock_timestamp()
    FROM decided d, clock
    WHERE t.id = d.task AND d.fate = 'go' AND t.status = 'BLOCKED'
    RETURNING t.id, t.shard, t.due_at
), yielded AS (
    UPDATE punctual_task t SET status = 'BLOCKED', due_at = NULL, updated_at = clock_timestamp()
    FROM decided d
    WHERE t.id = d.task AND d.fate = 'back' AND t.status IN ('INIT', 'FAIL')
    RETURNING t.id
), back AS (
    -- One that waited for a retry, or was snoozed, wants its turn when that is over. One that was put aside had its time.
    UPDATE punctual_turn w
    SET state = CASE WHEN k.later THEN 'new' ELSE 'queued' END, at = CASE WHEN k.later THEN k.due_at ELSE w.at END
    FROM yielded y JOIN (
        SELECT id, due_at, due_at > clock.now AND due_at < %(never)s::timestamptz AS later FROM locked, clock
    ) AS k ON k.id = y.id
    WHERE w.task = y.id AND w.state = 'taken'
), cancelled AS (
    UPDATE punctual_task t
    SET status = 'CANCELLED', due_at = NULL, batch_no = NULL, cancelled_by = 'scheduler', updated_at = clock_timestamp(),
        error_code = CASE d.fate WHEN 'overtaken' THEN 'OVERTAKEN' ELSE 'OVERLAP' END,
        error_msg = CASE d.fate WHEN 'overtaken' THEN 'a newer instance of its job took its turn: ' || d.by
                                WHEN 'skip' THEN 'an older instance of its job was under way: ' || d.by
                                ELSE 'an older instance of its job was under way, and another was waiting already: ' || d.by END,
--include end_of_run
    FROM decided d
    WHERE t.id = d.task AND d.fate IN ('overtaken', 'skip', 'queue_one') AND
--include live
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.error_code, t.error_msg
), home AS (
    DELETE FROM punctual_away a USING cancelled c JOIN locked k ON k.id = c.id WHERE k.status = 'AWAY' AND a.task = c.id
), queued AS (
    UPDATE punctual_turn w SET state = 'queued'
    FROM decided d
    WHERE w.task = d.task AND d.fate = 'queue' AND w.state = 'new'
    RETURNING w.task
), taken AS (
    UPDATE punctual_turn w SET state = 'taken' FROM moved m WHERE w.task = m.id
), left_over AS MATERIALIZED (
    -- Of tasks that were over before. Not waited for either: one that was dead may be being replayed, and wait for its turn.
    SELECT w.task, w.state FROM punctual_turn w
    WHERE w.task = ANY (ARRAY(SELECT h.task FROM holders h WHERE NOT h.under_way
                              UNION ALL SELECT l.task FROM line l WHERE NOT l.waits))
    FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM punctual_turn w
    USING (SELECT c.id AS task, d.state FROM cancelled c JOIN decided d ON d.task = c.id
           UNION ALL SELECT o.task, o.state FROM left_over o
           WHERE o.state = 'taken' OR o.task IN (SELECT l.task FROM line l)) AS over
    WHERE w.task = over.task AND w.state = over.state
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', m.error_code, 'reason', m.error_msg, 'by', 'scheduler') AS data, TRUE AS with_data
    FROM cancelled m
),
--include tell
SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM cancelled), (SELECT count(*) FROM queued),
       ARRAY(SELECT job FROM put_off),
       (SELECT jsonb_object_agg(shard, due)
        FROM (SELECT shard, date_part('epoch', min(due_at)) AS due FROM moved GROUP BY shard) AS one)

-- decide_turns: of the instances of these jobs whose time has come, who may run now, who waits and who is cancelled.
-- The caller has locked the jobs in a statement before this one: no other decision is made beside this, and what the last
-- one wrote is seen. What is decided, and its effect on the tasks, is one transaction: there is no step in between.
-- An older instance counts as long as it is live, whatever state that is; one that is over, in the past or gone does not.
-- Among those whose time has come, the newest that replaces goes first, and the older one is cancelled. Else, if nobody is
-- under way, the earliest goes. The others wait or are cancelled as their policy says.
-- What a backfill has made stands behind all others, and keeps none of them from running but while it runs itself: one that has
-- the turn and does not run gives it back (`yields`), and goes into line again; behind one that runs (`firm`), the next of the
-- others waits, whatever its policy, and with `replace` the newest of them. What was put aside, since its tenant is suspended or
-- in a rehearsal, gives nothing back: its time is kept elsewhere, and goes back to where it was. The first in line of a
-- backfill is passed over so many times (`patience`), and then it goes before those that wait, and is due until it runs.
-- No task is waited for: where one is locked, say by its settle, its job is put off and decided again in a moment.
-- What waited in line is late from now on; what goes at once is late from its time.
-- Each row carries what its job comes to: joined to each other by job, the rows of many jobs would be compared with all others,
-- since PostgreSQL can't know how many there are. The commit need not wait for the disk, as that of a claim need not.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), known AS MATERIALIZED (
    -- Whoever has a turn, or is in line; `counts`: it is under way, or it does wait.
    SELECT w.job, w.task, w.version, w.at, w.policy, w.state, w.passed, w.state = 'taken' AS holds,
           coalesce((t.status = 'BLOCKED') = (w.state <> 'taken'), FALSE) AS counts,
           w.state <> 'taken' AND w.policy = 'replace' AS replaces, w.policy = 'backfill' AS backfill,
           coalesce(w.policy = 'backfill' AND t.status IN ('INIT', 'FAIL') AND t.due_at < %(never)s::timestamptz
                    AND (w.passed < %(patience)s OR t.due_at > (SELECT now FROM clock)), FALSE) AS idle
    FROM unnest(%(jobs)s::bigint[]) AS j(job)
    CROSS JOIN LATERAL (
        (SELECT h.*, h.xmin AS version FROM punctual_turn h WHERE h.job = j.job AND h.state = 'taken')
        UNION ALL
        (SELECT q.*, q.xmin FROM punctual_turn q
         WHERE q.job = j.job AND q.state = 'queued' AND q.policy <> 'backfill' ORDER BY q.at, q.task LIMIT %(most)s)
        UNION ALL
        (SELECT q.*, q.xmin FROM punctual_turn q
         WHERE q.job = j.job AND q.state = 'queued' AND q.policy = 'backfill' ORDER BY q.at, q.task LIMIT %(most)s)
        UNION ALL
        (SELECT n.*, n.xmin FROM punctual_turn n
         WHERE n.job = j.job AND n.state = 'new' AND n.at <= (SELECT now FROM clock) ORDER BY n.at, n.task LIMIT %(most)s)
    ) AS w
    LEFT JOIN LATERAL (
        SELECT t.status, t.due_at FROM punctual_task t WHERE t.id = w.task AND
--include live
        LIMIT 1
    ) AS t ON TRUE
), held AS MATERIALIZED (
    SELECT k.*, min(k.task) FILTER (WHERE k.holds) OVER of_job AS held_by,
           bool_and(k.idle) FILTER (WHERE k.holds) OVER of_job AS yields,
           coalesce(bool_or(k.backfill AND NOT k.idle) FILTER (WHERE k.holds) OVER of_job, FALSE) AS firm,
           CASE WHEN NOT k.backfill THEN 1 WHEN k.passed < %(patience)s THEN 2 ELSE 0 END AS rank
    FROM known k WHERE k.counts
    WINDOW of_job AS (PARTITION BY k.job)
), able AS MATERIALIZED (
    SELECT h.*, NOT h.holds AND CASE WHEN h.held_by IS NULL THEN TRUE WHEN h.yields THEN NOT h.backfill
                                     ELSE h.replaces AND NOT h.firm END AS able
    FROM held h
), chosen AS MATERIALIZED (
    -- `first`: who goes, of the job; empty if nobody does.
    SELECT a.*, first_value(CASE WHEN a.able THEN a.task END) OVER by_right AS first,
           first_value(a.able AND a.replaces) OVER by_right AS overtakes,
           first_value(a.able AND a.backfill) OVER by_right AS before
    FROM able a
    WINDOW by_right AS (PARTITION BY a.job ORDER BY a.able DESC, a.replaces DESC, CASE WHEN a.replaces THEN a.at END DESC,
                                     CASE WHEN a.replaces THEN a.task END DESC, a.rank, a.at, a.task)
), others AS MATERIALIZED (
    -- All but those who go; `place` is that among those who want to wait, and `newer` how many of those that replace are.
    SELECT c.job, c.task, c.policy, c.state, coalesce(c.first, c.held_by) AS by, c.first IS NOT NULL AND NOT c.before AS overlooked,
           c.before OR (c.first IS NULL AND c.firm) AS behind,
           row_number() OVER (PARTITION BY c.job, c.backfill, c.state = 'queued' OR c.policy IN ('queue_one', 'queue_all', 'skip')
                              ORDER BY c.state = 'queued' DESC, c.policy = 'skip', c.at, c.task) AS place,
           row_number() OVER (PARTITION BY c.job, c.replaces ORDER BY c.at DESC, c.task DESC) - 1 AS newer,
           first_value(c.task) OVER (PARTITION BY c.job, c.replaces ORDER BY c.at DESC, c.task DESC) AS newest
    FROM chosen c
    WHERE NOT c.holds AND c.task IS DISTINCT FROM c.first
), fates AS MATERIALIZED (
    SELECT c.job, c.task, 'go' AS fate, c.at, c.state, NULL::bigint AS by
    FROM chosen c WHERE c.task = c.first
    UNION ALL
    SELECT o.job, o.task,
           CASE WHEN o.policy IN ('queue_all', 'backfill') OR (o.policy = 'queue_one' AND o.place = 1)
                     OR (o.policy = 'skip' AND o.behind AND o.place = 1) OR (o.policy = 'replace' AND o.behind AND o.newer = 0)
                THEN 'queue'
                WHEN o.policy = 'replace' THEN 'overtaken' ELSE o.policy END, NULL, o.state,
           CASE WHEN o.policy = 'replace' AND o.behind THEN o.newest ELSE o.by END
    FROM others o WHERE o.state = 'new' OR (o.policy = 'replace' AND NOT (o.behind AND o.newer = 0))
    UNION ALL
    SELECT c.job, c.task, CASE WHEN c.idle THEN 'back' ELSE 'overtaken' END, NULL, 'taken', c.first
    FROM chosen c
    WHERE c.holds AND c.first IS NOT NULL AND (c.idle OR c.overtakes)
), locked AS MATERIALIZED (
    SELECT f.*, t.status, t.due_at,
           bool_and(CASE f.fate WHEN 'queue' THEN TRUE WHEN 'go' THEN t.status = 'BLOCKED'
                                WHEN 'back' THEN t.status IN ('INIT', 'FAIL') AND t.due_at < %(never)s::timestamptz
                                ELSE t.status IS NOT NULL END IS TRUE) OVER (PARTITION BY f.job) AS ours
    FROM fates f
    LEFT JOIN LATERAL (
        SELECT t.status, t.due_at FROM punctual_task t WHERE t.id = f.task AND f.fate <> 'queue' AND
--include live
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t ON TRUE
), decided AS MATERIALIZED (
    SELECT * FROM locked WHERE ours
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
    RETURNING t.id, d.due_at
), back AS (
    -- One that waited for a retry, or was snoozed, wants its turn when that is over.
    UPDATE punctual_turn w
    SET state = CASE WHEN y.due_at > clock.now THEN 'new' ELSE 'queued' END,
        at = CASE WHEN y.due_at > clock.now THEN y.due_at ELSE w.at END,
        passed = CASE WHEN y.due_at > clock.now THEN 0 ELSE w.passed + 1 END, alongside = FALSE
    FROM clock, yielded y
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
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.error_code, t.error_msg,
              d.status AS was, d.state AS turn
), home AS (
    DELETE FROM punctual_away a USING cancelled c WHERE c.was = 'AWAY' AND a.task = c.id
), queued AS (
    UPDATE punctual_turn w SET state = 'queued'
    FROM decided d
    WHERE w.task = d.task AND d.fate = 'queue' AND w.state = 'new'
    RETURNING w.task
), taken AS (
    UPDATE punctual_turn w SET state = 'taken' FROM moved m WHERE w.task = m.id
), passed AS (
    -- The first in line of a backfill, where another goes that no backfill has made.
    UPDATE punctual_turn w SET passed = w.passed + 1
    FROM others o
    WHERE o.policy = 'backfill' AND o.state = 'queued' AND o.place = 1 AND o.overlooked
      AND o.job NOT IN (SELECT l.job FROM locked l WHERE NOT l.ours) AND w.task = o.task AND w.state = 'queued'
), left_over AS MATERIALIZED (
    -- Of tasks that were over before. Not waited for either: one that was dead may be being replayed, and wait for its turn.
    SELECT w.task, w.state, w.xmin AS version FROM punctual_turn w
    WHERE w.task = ANY (ARRAY(SELECT k.task FROM known k WHERE NOT k.counts))
    FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM punctual_turn w
    USING (SELECT c.id AS task, c.turn AS state FROM cancelled c
           UNION ALL
           SELECT o.task, o.state FROM left_over o
           WHERE (o.task, o.version::text) IN (SELECT k.task, k.version::text FROM known k WHERE NOT k.counts)) AS over
    WHERE w.task = over.task AND w.state = over.state
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', m.error_code, 'reason', m.error_msg, 'by', 'scheduler') AS data, TRUE AS with_data
    FROM cancelled m
),
--include tell
SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM cancelled), (SELECT count(*) FROM queued),
       ARRAY(SELECT DISTINCT job FROM locked WHERE NOT ours),
       (SELECT jsonb_object_agg(shard, due)
        FROM (SELECT shard, date_part('epoch', min(due_at)) AS due FROM moved GROUP BY shard) AS one)
WHERE (SELECT set_config('synchronous_commit', 'off', TRUE)) = 'off'

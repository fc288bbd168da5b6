-- next_turns: jobs of these shards for which something is to be decided, and in how many seconds the next moment comes.
-- That is an instance whose time has come, or one that waits although nobody of its job is under way any more: whatever
-- ended the older one, it is found here by what is there. In an empty table this is a few looks into an index.
-- The jobs in which somebody waits are found one by one, each a look into an index, however long their lines are.
-- Of each shard no more than `each`, so that nothing is read in vain when all of them have as much. The earliest are first, and
-- of those at one moment neighbours come together, which an index takes cheaper.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), fresh AS MATERIALIZED (
    SELECT first.job, first.at
    FROM unnest(%(shards)s::smallint[]) AS s(shard)
    CROSS JOIN LATERAL (
        SELECT w.job, w.at FROM punctual_turn w
        WHERE w.shard = s.shard AND w.state = 'new' AND w.at <= (SELECT now FROM clock) AND w.job <> ALL (%(but)s::bigint[])
        ORDER BY w.at
        LIMIT %(each)s
    ) AS first
), lines AS MATERIALIZED (
    SELECT line.job
    FROM unnest(%(shards)s::smallint[]) AS s(shard)
    CROSS JOIN LATERAL (
        WITH RECURSIVE one AS (
            (SELECT w.job FROM punctual_turn w WHERE w.shard = s.shard AND w.state = 'queued' ORDER BY w.job LIMIT 1)
            UNION ALL
            SELECT (SELECT w.job FROM punctual_turn w WHERE w.shard = s.shard AND w.state = 'queued' AND w.job > one.job
                    ORDER BY w.job LIMIT 1)
            FROM one WHERE one.job IS NOT NULL
        )
        SELECT job FROM one WHERE job IS NOT NULL
    ) AS line
), free AS MATERIALIZED (
    SELECT l.job FROM lines l
    WHERE l.job <> ALL (%(but)s::bigint[])
      AND NOT EXISTS (
          SELECT FROM punctual_turn w
          CROSS JOIN LATERAL (
              SELECT t.status, t.due_at FROM punctual_task t WHERE t.id = w.task AND t.status <> 'BLOCKED' AND
--include live
              LIMIT 1
          ) AS under_way
          -- What a backfill has made, and does not run, is in nobody's way but that of others like it; unless it lies aside.
          WHERE w.job = l.job AND w.state = 'taken'
            AND CASE WHEN w.policy = 'backfill' AND under_way.status IN ('INIT', 'FAIL') AND under_way.due_at < %(never)s::timestamptz
                          AND (w.passed < %(patience)s OR under_way.due_at > (SELECT now FROM clock))
                     THEN (SELECT q.task FROM punctual_turn q WHERE q.job = l.job AND q.state = 'queued' AND q.policy <> 'backfill'
                           ORDER BY q.at, q.task LIMIT 1) IS NULL ELSE TRUE END)
    LIMIT %(most)s
)
SELECT ARRAY(SELECT job FROM (SELECT job, at FROM fresh UNION ALL SELECT job, '-infinity' FROM free) AS one
             GROUP BY job ORDER BY min(at), job),
       (SELECT date_part('epoch', min(first.at)) - date_part('epoch', (SELECT now FROM clock))
        FROM unnest(%(shards)s::smallint[]) AS s(shard)
        CROSS JOIN LATERAL (
            SELECT w.at FROM punctual_turn w
            WHERE w.shard = s.shard AND w.state = 'new' AND w.at > (SELECT now FROM clock)
            ORDER BY w.at
            LIMIT 1
        ) AS first)

-- waits_for: whom an instance waits for: the one of its job that is under way, and how many are in line before it:
-- what a backfill has made is behind all others.
SELECT w.at, w.at > clock_timestamp(), held.id, held.fire_time,
       (SELECT count(*) FROM (SELECT FROM punctual_turn q
                              WHERE q.job = w.job AND q.state = 'queued'
                                AND CASE WHEN (q.policy = 'backfill') = (w.policy = 'backfill') THEN (q.at, q.task) < (w.at, w.task)
                                         ELSE w.policy = 'backfill' END
                              LIMIT %(most)s) AS before)
FROM punctual_turn w
LEFT JOIN LATERAL (
    SELECT t.id, t.fire_time FROM punctual_turn h
    CROSS JOIN LATERAL (
        SELECT t.id, t.fire_time FROM punctual_task t WHERE t.id = h.task AND t.status <> 'BLOCKED' AND
--include live
        LIMIT 1
    ) AS t
    WHERE h.job = w.job AND h.state = 'taken'
    LIMIT 1
) AS held ON TRUE
WHERE w.task = %(task)s AND w.state <> 'taken'

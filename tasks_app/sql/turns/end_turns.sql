-- end_turns: of these tasks, those that are over have no turn any more; returns their jobs in which somebody waits for one.
-- So a job in which nobody waits needs no lock and no decision when its instance is over. What is over is nobody's to hold, so
-- the jobs are not locked. One that is being replayed, or got another row, is left alone: it has a turn anew.
WITH over AS MATERIALIZED (
    SELECT w.task FROM unnest(%(ids)s::bigint[]) AS one(id)
    CROSS JOIN LATERAL (
        SELECT w.task FROM punctual_turn w
        WHERE w.task = one.id AND w.state = 'taken' AND NOT EXISTS (
            SELECT FROM punctual_task t WHERE t.id = one.id AND
--include live
        )
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) AS w
), gone AS (
    DELETE FROM punctual_turn w USING over WHERE w.task = over.task AND w.state = 'taken'
)
SELECT j.job FROM unnest(%(jobs)s::bigint[]) AS j(job)
WHERE (SELECT w.task FROM punctual_turn w WHERE w.job = j.job AND w.state = 'queued' ORDER BY w.at, w.task LIMIT 1) IS NOT NULL
  AND (SELECT set_config('synchronous_commit', 'off', TRUE)) = 'off'

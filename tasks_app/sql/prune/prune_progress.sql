-- prune_progress: what a worker that died, or one that wrote it a moment too late, has left behind of runs that are over;
-- in a small step over a stretch of tasks, and it says where it ended. An index by time would be written to with every
-- progress there is. Each task is looked up by itself: joined freely, PostgreSQL may read all of them.
WITH stretch AS MATERIALIZED (
    SELECT task FROM punctual_progress WHERE task > %(after)s ORDER BY task LIMIT %(step)s
), gone AS (
    DELETE FROM punctual_progress p
    WHERE p.task > %(after)s AND p.task <= (SELECT max(task) FROM stretch)
      AND p.at < (SELECT clock_timestamp() - make_interval(secs => %(keep)s))
      AND (SELECT t.id FROM punctual_task t WHERE t.id = p.task AND t.status IN ('RUNNING', 'AWAY')) IS NULL
    RETURNING p.task
)
SELECT (SELECT max(task) FROM stretch), (SELECT count(*) FROM gone)

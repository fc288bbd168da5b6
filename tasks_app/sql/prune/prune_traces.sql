-- prune_traces: of tasks that are over and were not forgotten: cancelled, dead, reported by others, or their worker died. In a
-- small step over a stretch of tasks, and it says where it ended. What is among the live a while longer keeps its trace, since
-- it may be replayed. Each task is looked up by itself: joined freely, PostgreSQL may read all of them.
WITH stretch AS MATERIALIZED (
    SELECT task FROM punctual_trace WHERE task > %(after)s ORDER BY task LIMIT %(step)s
), gone AS (
    DELETE FROM punctual_trace r
    WHERE r.task > %(after)s AND r.task <= (SELECT max(task) FROM stretch)
      AND (SELECT t.id FROM punctual_task t WHERE t.id = r.task) IS NULL
    RETURNING r.task
)
SELECT (SELECT max(task) FROM stretch), (SELECT count(*) FROM gone)

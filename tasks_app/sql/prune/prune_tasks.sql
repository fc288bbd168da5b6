-- prune_tasks: finished tasks past their keep, with their attempts, in a small step.
-- No index has the status, so each step walks a stretch of ids and says where it ended; the caller goes on there.
-- DEAD rows stay while they are current: a person has to look at them first.
WITH stretch AS (
    SELECT id FROM punctual_task
    WHERE id > %(after)s ORDER BY id LIMIT %(step)s
), old AS (
    SELECT t.id FROM punctual_task t JOIN stretch USING (id)
    WHERE t.due_at IS NULL AND (t.status IN ('SUCCESS', 'CANCELLED') OR (t.status = 'DEAD' AND NOT t.current))
      AND t.updated_at < now() - make_interval(secs => %(keep)s)
    ORDER BY t.id FOR UPDATE OF t SKIP LOCKED
), gone AS (
    DELETE FROM punctual_task t USING old
    WHERE t.id = old.id AND t.due_at IS NULL
      AND (t.status IN ('SUCCESS', 'CANCELLED') OR (t.status = 'DEAD' AND NOT t.current))
    RETURNING t.id
), attempts AS (
    DELETE FROM punctual_attempt a USING gone WHERE a.task_id = gone.id
), letters AS (
    DELETE FROM punctual_dead_letter d USING gone WHERE d.task_id = gone.id
)
SELECT (SELECT max(id) FROM stretch), (SELECT count(*) FROM gone)

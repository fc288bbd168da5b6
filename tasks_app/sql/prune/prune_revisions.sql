-- prune_revisions: the last revisions of units that nobody has changed for long and that have no task any more, in a
-- small step, as prune_tasks has it. While one is kept, no older change can be taken for a new one.
WITH stretch AS (
    SELECT id FROM punctual_unit_revision
    WHERE id > %(after)s ORDER BY id LIMIT %(step)s
), gone AS (
    DELETE FROM punctual_unit_revision r USING stretch
    WHERE r.id = stretch.id AND r.changed_at < now() - make_interval(secs => %(keep)s)
      AND NOT EXISTS (SELECT FROM punctual_task t
                      WHERE t.biz_key = r.biz_key AND t.task_type = r.task_type AND t.tenant = r.tenant AND t.current)
    RETURNING r.id
)
SELECT (SELECT max(id) FROM stretch), (SELECT count(*) FROM gone)

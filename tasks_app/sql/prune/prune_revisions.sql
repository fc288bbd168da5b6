-- prune_revisions: the last revisions of units that nobody has changed for long and that have no task any more, in a
-- small step over a stretch of ids; it says where it ended. While one is kept, no older change can be taken for a new one.
-- Each unit is looked up by itself: joined freely, a stretch of revisions makes PostgreSQL read all tasks.
WITH stretch AS MATERIALIZED (
    SELECT id FROM punctual_unit_revision
    WHERE id > %(after)s ORDER BY id LIMIT %(step)s
), gone AS (
    DELETE FROM punctual_unit_revision r
    WHERE r.id > %(after)s AND r.id <= (SELECT max(id) FROM stretch)
      AND r.changed_at < now() - make_interval(secs => %(keep)s)
      AND (SELECT t.id FROM punctual_task t
           WHERE t.biz_key = r.biz_key AND t.task_type = r.task_type AND t.tenant = r.tenant AND t.current
           LIMIT 1) IS NULL
    RETURNING r.id
)
SELECT (SELECT max(id) FROM stretch), (SELECT count(*) FROM gone)

-- merge_windows: of those that are some minutes old, one a minute is enough. It has what the others had, in the order of
-- the ids, which is right for every unit, too. None that somebody is reading, and none together across a cursor.
WITH cursors AS MATERIALIZED (
    SELECT DISTINCT window_no AS no FROM punctual_subscription
), old AS MATERIALIZED (
    SELECT w.no, max(date_trunc('minute', w.recorded_at)) OVER (ORDER BY w.no) AS minute,
           (SELECT count(*) FROM cursors c WHERE c.no <= w.no) AS passed
    FROM punctual_outbox_window w
    WHERE w.no < (SELECT max(no) FROM punctual_outbox_window)
      AND w.recorded_at < (SELECT clock_timestamp() - make_interval(secs => %(older)s::float8))
      AND w.recorded_at > (SELECT clock_timestamp() - make_interval(secs => %(older)s::float8) - interval '2 hours')
      AND w.before IS NOT NULL AND w.no NOT IN (SELECT no FROM cursors)
), merged AS MATERIALIZED (
    SELECT max(o.no) AS no, min(o.no) AS first, min(w.min_id) AS min_id, max(w.max_id) AS max_id, min(w.min_at) AS min_at,
           max(w.max_at) AS max_at, sum(w.count) AS count, bool_and(w.tenants IS NOT NULL) AS known
    FROM old o JOIN punctual_outbox_window w ON w.no = o.no
    GROUP BY o.minute, o.passed, w.floor_id
    HAVING count(*) > 1
), gone AS (
    DELETE FROM punctual_outbox_window w USING merged m, old o
    WHERE w.no = o.no AND w.no >= m.first AND w.no < m.no
    RETURNING w.no
)
UPDATE punctual_outbox_window w
SET before = (SELECT f.before FROM punctual_outbox_window f WHERE f.no = m.first),
    min_id = m.min_id, max_id = m.max_id, min_at = m.min_at, max_at = m.max_at, count = m.count, topics = NULL,
    tenants = CASE WHEN m.known THEN
        (SELECT jsonb_object_agg(tenant, events)
         FROM (SELECT one.tenant, sum(one.events::bigint) AS events
               FROM old o
               JOIN punctual_outbox_window f ON f.no = o.no
               CROSS JOIN LATERAL jsonb_each_text(f.tenants) AS one(tenant, events)
               WHERE o.no >= m.first AND o.no <= m.no
               GROUP BY one.tenant) AS own) END
FROM merged m
WHERE w.no = m.no
RETURNING w.no

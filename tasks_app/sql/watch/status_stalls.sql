-- status_stalls: what beats hung on, what is skipped first; with the names by which people know it.
SELECT s.id, s.kind, s.place, s.item, s.ends, s.skipped_at, s.beat, s.stack,
       date_part('epoch', clock_timestamp() - s.last_at),
       coalesce(CASE s.kind
           WHEN 'subscription' THEN (SELECT concat_ws('/', tenant, name) FROM punctual_subscription WHERE id = s.item::bigint)
           WHEN 'calendar' THEN (SELECT concat_ws('/', tenant, name) FROM punctual_calendar WHERE id = s.item::bigint)
           WHEN 'job' THEN (SELECT string_agg(name, ', ') FROM (
               SELECT concat_ws('/', j.tenant, j.name) AS name
--include stalled_jobs
               ORDER BY j.id LIMIT 3
           ) AS few)
       END, s.item)
FROM punctual_stall s
ORDER BY s.skipped_at IS NULL, s.id
LIMIT %(most)s

-- release_changed: items that were changed or deleted since a beat hung on them, schedules that no active job has any more, and
-- what was not skipped and has been well for so many hours.
DELETE FROM punctual_stall s
WHERE CASE s.kind
          WHEN 'subscription' THEN NOT EXISTS (
              SELECT FROM punctual_subscription o WHERE o.id = s.item::bigint AND o.updated_at <= s.last_at)
          WHEN 'calendar' THEN NOT EXISTS (
              SELECT FROM punctual_calendar o WHERE o.id = s.item::bigint AND o.updated_at <= s.last_at)
          WHEN 'tenant' THEN EXISTS (
              SELECT FROM punctual_tenant o WHERE o.name = s.item AND o.updated_at > s.last_at)
          WHEN 'job' THEN (
              SELECT TRUE
--include stalled_jobs
              LIMIT 1
          ) IS NOT TRUE
          ELSE FALSE
      END
   OR s.skipped_at IS NULL AND s.last_at < clock_timestamp() - make_interval(hours => %(forget)s)
RETURNING s.kind, s.place, s.item

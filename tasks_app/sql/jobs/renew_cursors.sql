-- renew_cursors: these schedules are planned by the days of this version from now on, again from these firings on.
UPDATE punctual_job_cursor c
SET calendar_version = %(version)s, next_fire = u.next_fire,
    after_job = CASE WHEN c.next_fire = u.next_fire THEN c.after_job ELSE 0 END
FROM unnest(%(cursors)s::bigint[], %(nexts)s::timestamptz[]) AS u(id, next_fire)
WHERE c.id = u.id

-- calendar_is_planned: all that was planned by the days of before is planned again, unless the calendar was changed once more
-- or a schedule is still as it was. In the two cases somebody comes again.
UPDATE punctual_calendar k SET changed = FALSE
WHERE k.id = %(calendar)s AND k.version = %(version)s AND k.changed
  AND NOT EXISTS (SELECT FROM punctual_job_cursor c
                  WHERE c.calendar = k.id AND c.calendar > 0 AND c.calendar_version IS DISTINCT FROM k.version)
RETURNING k.id

-- keep_calendar: a calendar stays as it is until the end of the transaction; others may keep it, too.
SELECT id FROM punctual_calendar WHERE id = %(calendar)s FOR SHARE

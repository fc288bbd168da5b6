-- release_leaving: a partition was not archived this time, and waits; why, if something was wrong.
UPDATE punctual_leaving SET held_until = NULL, holder = '', error = %(error)s
WHERE name = %(name)s AND fence = %(fence)s

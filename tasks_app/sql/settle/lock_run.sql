-- lock_run: the task that a report is about, locked, so that what is decided about the report stays true; and by its payload,
-- whether it is encrypted.
SELECT status, batch_no, ran_in, payload ->> '$punctual' FROM punctual_task
WHERE id = %(task)s AND tenant = %(tenant)s AND token = %(token)s
FOR NO KEY UPDATE

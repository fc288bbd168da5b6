-- lock_run: lock the task of a report, so that the decision about the report stays true; and return whether its payload is
-- encrypted.
SELECT status, batch_no, ran_in, payload ->> '$punctual' FROM punctual_task
WHERE id = %(task)s AND tenant = %(tenant)s AND token = %(token)s
FOR NO KEY UPDATE

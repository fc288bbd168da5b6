-- lock_run: the task that a report is about, locked, so that what is decided about the report stays true.
SELECT status, batch_no, ran_in FROM punctual_task
WHERE id = %(task)s AND tenant = %(tenant)s AND token = %(token)s
FOR NO KEY UPDATE

-- When a task is planned to run. That of one that runs is what was asked for; so is that of one that lies aside, which is due
-- in a year that never comes (lifecycle/rehearsal.py).
CASE WHEN t.due_at < '9000-01-01 00:00+00' THEN t.due_at ELSE t.execute_time END

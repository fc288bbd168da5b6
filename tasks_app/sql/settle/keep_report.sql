-- keep_report: store the outcome of a run that its worker has not handed over yet. The caller has locked the task, so the
-- transaction that hands it over later finds the report.
INSERT INTO punctual_early_report AS r (task, run, outcome, body)
SELECT t.id, t.batch_no, %(outcome)s, %(body)s::jsonb FROM punctual_task t
WHERE t.id = %(task)s AND t.status = 'RUNNING' AND t.batch_no = %(run)s
ON CONFLICT (task) DO UPDATE SET run = excluded.run, outcome = excluded.outcome, body = excluded.body, at = excluded.at
WHERE r.run <> excluded.run
RETURNING r.task

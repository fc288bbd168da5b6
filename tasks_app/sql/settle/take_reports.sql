-- take_reports: what was reported about these tasks before this batch handed them over. A statement of its own, after they
-- are locked: it sees what those wrote who held the locks before.
DELETE FROM punctual_early_report
WHERE task = ANY (%(ids)s::bigint[]) AND run = %(batch_no)s
RETURNING task, outcome, body

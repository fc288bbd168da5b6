-- take_reports: reports about these tasks that arrived before this batch handed them over. A separate statement after they
-- are locked, so that it sees the writes of previous lock holders.
DELETE FROM punctual_early_report
WHERE task = ANY (%(ids)s::bigint[]) AND run = %(batch_no)s
RETURNING task, outcome, body

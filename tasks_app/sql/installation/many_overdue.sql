-- many_overdue: how many tasks were due before a moment, counted up to `most` of them all: a beat waits for the answer before
-- it dispatches.
WITH
--include overdue
SELECT count(*) FROM (SELECT FROM overdue LIMIT %(most)s) AS one

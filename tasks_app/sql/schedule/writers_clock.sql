-- The time, read when this transaction has its number: whoever knows all transactions before one to be over, and when its number
-- was still to be given, knows of a moment before which nobody makes an entry in the timetable any more (pass_entries).
(SELECT CASE WHEN pg_current_xact_id() IS NOT NULL THEN clock_timestamp() END AS now) AS clock

-- report_progress: how far a task is, as whoever has it says; nothing, unless it is in the run that is named.
WITH ours AS MATERIALIZED (
    SELECT t.id, %(fraction)s::float8 AS fraction, %(note)s::text AS note
    FROM punctual_task t
    WHERE t.id = %(task)s
      AND ((t.status = 'AWAY' AND t.ran_in = %(run)s) OR (t.status = 'RUNNING' AND t.batch_no = %(run)s))
)
--include keep_progress

-- ended_pauses: jobs after this one whose pause has ended by itself. By id, so that those that can't be resumed are stepped
-- over, however many they are. First all that have ended, which an index knows: going by id would read every job.
WITH ended AS MATERIALIZED (
    SELECT tenant, id FROM punctual_job WHERE paused_until <= (SELECT clock_timestamp())
)
SELECT tenant, id FROM ended WHERE id > %(after)s ORDER BY id LIMIT %(most)s

-- ended_pauses: jobs after this one whose pause has ended by itself. By id, so that those that can't be resumed are stepped
-- over, however many they are.
SELECT tenant, id FROM punctual_job
WHERE paused_until <= clock_timestamp() AND id > %(after)s
ORDER BY id
LIMIT %(most)s

-- forget_progress: the runs of these tasks are over. In order of id, as they are written.
WITH mine AS MATERIALIZED (
    SELECT task FROM punctual_progress WHERE task = ANY (%(ids)s::bigint[]) ORDER BY task FOR UPDATE
)
DELETE FROM punctual_progress p USING mine WHERE p.task = mine.task

-- browse: of some candidates, in their order, the tasks that match; and where to go on.
-- Candidates come from whatever table knows them (see engine/browse.py), a bounded number at a time: no index on the
-- tasks' status is needed, and no look costs more than its bound. An empty id: there were candidates, none matched.
WITH candidate AS MATERIALIZED (
    SELECT id, at::text AS at, row_number() OVER () AS place
    FROM (
--rows
    ) AS given(id, at)
), found AS MATERIALIZED (
    SELECT c.place, t.id, t.status, t.due_at IS NOT NULL AS due, t.current
    FROM candidate c
    -- LIMIT keeps the look-up a look-up, however many candidates there are.
    CROSS JOIN LATERAL (SELECT * FROM schedule_task WHERE id = c.id LIMIT 1) AS t
    WHERE
--include matches
    ORDER BY c.place
    LIMIT %(size)s
), stop AS (
    -- The task that filled the page, or else the last candidate.
    SELECT place, at FROM candidate
    WHERE place = CASE WHEN (SELECT count(*) FROM found) = %(size)s THEN (SELECT max(place) FROM found)
                       ELSE (SELECT count(*) FROM candidate) END
)
SELECT (SELECT count(*) FROM candidate), stop.place, stop.at,
       (SELECT count(*) FROM candidate c WHERE c.at = stop.at AND c.place <= stop.place),
       found.id, found.status, found.due, found.current
FROM stop LEFT JOIN found ON TRUE
ORDER BY found.place

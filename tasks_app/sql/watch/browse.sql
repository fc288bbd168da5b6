-- browse: of some candidates, in their order, the tasks that match; and where to go on.
-- Candidates come from whatever table knows them (see engine/watch/browse.py), a bounded number at a time: no index on the
-- tasks' status is needed, and no look costs more than its bound. An empty id: there were candidates, none matched.
-- A source says between which moments a row was last written to, if it is in the past: other partitions are not asked. One
-- that knows runs says in which batch: of a task's runs only the last one stands for it.
WITH candidate AS MATERIALIZED (
    SELECT id, at::text AS at, since, until, ran_in, row_number() OVER () AS place
    FROM (
--rows
    ) AS given(id, at, since, until, ran_in)
), found AS MATERIALIZED (
    SELECT c.place, t.id, t.status, t.due_at IS NOT NULL AS due, t.current, t.updated_at, t.task_type, t.lane,
--include planned
    AS planned
    FROM candidate c
    -- LIMIT keeps the look-up a look-up, however many candidates there are.
    CROSS JOIN LATERAL (
        SELECT
--include columns
        FROM punctual_task WHERE id = c.id
        UNION ALL
        SELECT
--include columns
        FROM punctual_past
        WHERE id = c.id AND updated_at >= c.since AND updated_at <= c.until
          AND updated_at >= %(past_from)s::timestamptz AND updated_at < %(past_to)s::timestamptz
        LIMIT 1
    ) AS t
    WHERE (c.ran_in IS NULL OR t.ran_in IS NULL OR t.ran_in = c.ran_in) AND
--include matches
    ORDER BY c.place
    LIMIT %(size)s
), last AS MATERIALIZED (
    -- The task that filled the page, or else the last candidate. Materialised, or it is made anew for every row found.
    SELECT place, at FROM candidate
    WHERE place = CASE WHEN (SELECT count(*) FROM found) = %(size)s THEN (SELECT max(place) FROM found)
                       ELSE (SELECT count(*) FROM candidate) END
)
SELECT (SELECT count(*) FROM candidate), last.place, last.at, found.id, found.status, found.due, found.current, found.updated_at,
       found.task_type, found.lane, found.planned
FROM last LEFT JOIN found ON TRUE
ORDER BY found.place

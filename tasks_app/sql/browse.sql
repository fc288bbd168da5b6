-- browse: of some candidates, in their order, the tasks that match; and where to go on.
-- Candidates come from whatever table knows them (see engine/browse.py), a bounded number at a time: no index on the
-- tasks' status is needed, and no look costs more than its bound. An empty id: there were candidates, none matched.
WITH candidate AS MATERIALIZED (
    SELECT id, at::text AS at, row_number() OVER () AS place
    FROM (
--rows
    ) AS given(id, at)
), numbered AS MATERIALIZED (
    -- `nth` counts the candidates with the same `at` up to here: the next look skips as many.
    SELECT id, at, place, row_number() OVER (PARTITION BY at ORDER BY place) AS nth FROM candidate
), found AS (
    SELECT c.place, c.at, c.nth, t.id, t.status, t.due_at IS NOT NULL AS due, t.current
    FROM numbered c
    -- LIMIT keeps the look-up a look-up, however many candidates there are.
    CROSS JOIN LATERAL (SELECT * FROM schedule_task WHERE id = c.id LIMIT 1) AS t
    WHERE (%(state)s::text IS NULL OR t.status = %(state)s)
      AND (NOT %(due_now)s::bool OR t.due_at <= (SELECT clock_timestamp()))
      AND (%(task_type)s::text IS NULL OR t.task_type = %(task_type)s)
      AND (%(lane)s::text IS NULL OR t.lane = %(lane)s)
      AND (%(key_from)s::text IS NULL OR (t.biz_key >= %(key_from)s AND t.biz_key < %(key_to)s))
      AND (%(due_from)s::timestamptz IS NULL OR t.due_at >= %(due_from)s)
      AND (%(due_to)s::timestamptz IS NULL OR t.due_at < %(due_to)s)
      AND (%(ran_from)s::timestamptz IS NULL OR t.finish_time >= %(ran_from)s)
      AND (%(ran_to)s::timestamptz IS NULL OR t.finish_time < %(ran_to)s)
      AND (%(newest)s::bigint IS NULL OR t.id <= %(newest)s)
    ORDER BY c.place
    LIMIT %(size)s
), last AS (
    SELECT place, at, nth FROM numbered ORDER BY place DESC LIMIT 1
)
SELECT last.place, last.at, last.nth, found.place, found.at, found.nth, found.id, found.status, found.due, found.current
FROM last LEFT JOIN found ON TRUE
ORDER BY found.place

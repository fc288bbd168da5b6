-- tally_ids: how many of the next ids match, by state, whether due, whether current, type and lane, and between when they
-- are planned; and where to go on.
WITH stretch AS MATERIALIZED (
    SELECT id FROM (
--rows
    ) AS given(id, at)
), span AS MATERIALIZED (
    SELECT min(id) AS low, max(id) AS high, count(*) AS seen FROM stretch
), found AS MATERIALIZED (
    -- Bounds that are no columns: they reach the index of each partition, as those of a join would not.
    SELECT t.status, t.due_at IS NOT NULL AS due, t.current, t.task_type, t.lane, count(*) AS tasks, min(
--include planned
    ) AS first, max(
--include planned
    ) AS last
    FROM
--include sought
    AS t
    WHERE t.id >= (SELECT low FROM span) AND t.id <= (SELECT high FROM span) AND
--include matches
    GROUP BY 1, 2, 3, 4, 5
)
SELECT span.seen, span.low::text, found.status, found.due, found.current, found.task_type, found.lane,
       coalesce(found.tasks, 0), found.first, found.last
FROM span LEFT JOIN found ON TRUE

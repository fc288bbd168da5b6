-- browse_ids: browse for candidates that are nothing but the next ids: read in one scan, each row once.
WITH stretch AS MATERIALIZED (
    SELECT id FROM (
--rows
    ) AS given(id, at)
), span AS MATERIALIZED (
    SELECT min(id) AS low, max(id) AS high, count(*) AS seen FROM stretch
), found AS MATERIALIZED (
    SELECT t.id, t.status, t.due_at IS NOT NULL AS due, t.current, t.updated_at, t.task_type, t.lane,
--include planned
    AS planned
    FROM
--include sought
    AS t
    WHERE t.id >= (SELECT low FROM span) AND t.id <= (SELECT high FROM span) AND
--include matches
    ORDER BY t.id DESC
    LIMIT %(size)s
), last AS MATERIALIZED (
    SELECT CASE WHEN (SELECT count(*) FROM found) = %(size)s THEN (SELECT min(id) FROM found) ELSE low END AS id, seen
    FROM span WHERE seen > 0
), stop AS MATERIALIZED (
    SELECT last.seen, count(*) AS place, last.id
    FROM last JOIN stretch ON stretch.id >= last.id
    GROUP BY last.seen, last.id
)
SELECT stop.seen, stop.place, stop.id::text, found.id, found.status, found.due, found.current, found.updated_at,
       found.task_type, found.lane, found.planned
FROM stop LEFT JOIN found ON TRUE
ORDER BY found.id DESC

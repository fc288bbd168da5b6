-- tally_ids: how many of the next ids match, by state, whether due, and whether current; and where to go on.
WITH stretch AS MATERIALIZED (
    SELECT id FROM (
--rows
    ) AS given(id, at)
), span AS MATERIALIZED (
    SELECT min(id) AS low, max(id) AS high, count(*) AS seen FROM stretch
)
SELECT span.seen, span.low::text, t.status, t.due_at IS NOT NULL, t.current, count(t.id)
FROM span
LEFT JOIN
--include sought
    AS t ON t.id >= span.low AND t.id <= span.high AND
--include matches
GROUP BY 1, 2, 3, 4, 5

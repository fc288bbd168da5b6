-- list_letters: of a stretch of open letters, the latest first, those that match; and where the next look goes on.
-- The stretch comes from the index that knows most of what is asked for (see engine/watch/letters.py) and is bounded, so
-- that a filter that matches little costs no more than one that matches much. No floor: there are no more.
WITH stretch AS MATERIALIZED (
    SELECT id, task_id, created_at, row_number() OVER (ORDER BY created_at DESC, id DESC) AS place,
--include letter_matches
           AS matches
    FROM (
--rows
    ) AS d
    ORDER BY created_at DESC, id DESC LIMIT %(stretch)s
), found AS MATERIALIZED (
    SELECT id, task_id, place FROM stretch WHERE matches ORDER BY place LIMIT %(size)s
), floor AS MATERIALIZED (
    SELECT id, created_at FROM stretch
    WHERE place = CASE WHEN (SELECT count(*) FROM found) = %(size)s THEN (SELECT max(place) FROM found)
                       WHEN (SELECT count(*) FROM stretch) = %(stretch)s THEN %(stretch)s END
)
SELECT (SELECT array_agg(id ORDER BY place) FROM found), (SELECT array_agg(task_id ORDER BY place) FROM found),
       (SELECT count(*) FROM stretch), (SELECT created_at FROM floor), (SELECT id FROM floor)

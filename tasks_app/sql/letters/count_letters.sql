-- count_letters: list_letters, but only how many there are; so it may look at more of them at a time.
WITH stretch AS MATERIALIZED (
    SELECT id, created_at,
--include letter_matches
           AS matches
    FROM (
--rows
    ) AS d
)
SELECT count(*) FILTER (WHERE matches),
       CASE WHEN count(*) = %(stretch)s THEN (SELECT created_at FROM stretch ORDER BY created_at, id LIMIT 1) END,
       CASE WHEN count(*) = %(stretch)s THEN (SELECT id FROM stretch ORDER BY created_at, id LIMIT 1) END
FROM stretch

-- next_stretch: where the next stretch of ids ends that a check looks at; empty: there are no more.
SELECT max(id) FROM (
    SELECT id FROM
--rows
    WHERE id > %(after)s ORDER BY id LIMIT %(step)s
) AS one

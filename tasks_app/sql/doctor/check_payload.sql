-- check_payload: an encrypted payload in bytes is there if, and only if, the payload names its key and nothing else.
SELECT t.id, t.payload ->> '$punctual'
FROM (
    SELECT * FROM
--rows
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE coalesce(right(t.payload ->> '$punctual', 1) = ':', FALSE) <> (t.payload_bytes IS NOT NULL)

-- check_place: a task is in one place: among what is live, or in one partition of the past.
SELECT t.id, t.biz_key
FROM (
    SELECT * FROM punctual_past
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE (SELECT count(*) FROM punctual_task l WHERE l.id = t.id) + (SELECT count(*) FROM punctual_past p WHERE p.id = t.id) > 1

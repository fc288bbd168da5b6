-- check_attempts: every failure left an attempt. Of what is older than attempts are kept, some may be gone.
SELECT t.id, t.retry_count::text
FROM (
    SELECT * FROM
--rows
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
CROSS JOIN LATERAL (SELECT count(*) AS kept FROM punctual_attempt a WHERE a.task_id = t.id) AS a
WHERE t.retry_count <> a.kept AND t.created_at > (SELECT clock_timestamp()) - make_interval(secs => %(hot)s)

-- cursor_pages: of each schedule the next jobs that may fire: how many, the last of them, how many missed firings the
-- most patient one wants, and whether one of them counts its runs. To be asked after the cursors are held, not with it.
SELECT p.jobs, p.last, p.most_missed, p.counted
FROM unnest(%(cursors)s::bigint[], %(afters)s::bigint[]) WITH ORDINALITY AS c(id, after, place)
CROSS JOIN LATERAL (
    SELECT count(*) AS jobs, max(d.id) AS last, coalesce(bool_or(d.max_runs IS NOT NULL), FALSE) AS counted,
           coalesce(max(CASE d.catch_up WHEN 'all' THEN d.catch_up_most WHEN 'latest' THEN 1 ELSE 0 END), 0) AS most_missed
    FROM (
        SELECT * FROM job_definition
        WHERE cursor = c.id AND id > c.after AND status = 'ACTIVE'
        ORDER BY id
        LIMIT %(page)s
    ) AS d
) AS p
ORDER BY c.place

-- cursor_pages: of each schedule the next jobs that may fire: how many, the last of them, whether one of them counts its
-- runs, whether one cares about overlap, whether one has children (`rooted`), and so brings a whole graph along, and, where
-- firings were missed, how many of those the most patient one of all wants, and whether one catches up none. That is asked
-- for the first page of a firing only, since it reads every job. Counting reads the index alone: in a table of millions a
-- job's own row is one more page to read. To be asked after the cursors are locked, not with it.
SELECT p.jobs, p.last,
       EXISTS (SELECT FROM punctual_job d
               WHERE d.cursor = c.id AND d.status = 'ACTIVE' AND d.max_runs IS NOT NULL) AS counted,
       EXISTS (SELECT FROM punctual_job d
               WHERE d.cursor = c.id AND d.status = 'ACTIVE' AND d.overlap <> 'allow') AS turns,
       CASE WHEN c.late AND c.after = 0 THEN (
           SELECT max(CASE d.catch_up WHEN 'all' THEN d.catch_up_most WHEN 'latest' THEN 1 ELSE 0 END)
           FROM punctual_job d WHERE d.cursor = c.id AND d.status = 'ACTIVE'
       ) END AS most_missed,
       EXISTS (SELECT FROM punctual_job d WHERE d.cursor = c.id AND d.status = 'ACTIVE' AND d.has_children) AS rooted,
       CASE WHEN c.late AND c.after = 0 THEN
           EXISTS (SELECT FROM punctual_job d WHERE d.cursor = c.id AND d.status = 'ACTIVE' AND d.catch_up = 'none')
       END AS late
FROM unnest(%(cursors)s::bigint[], %(afters)s::bigint[], %(late)s::bool[]) WITH ORDINALITY AS c(id, after, late, place)
CROSS JOIN LATERAL (
    SELECT count(*) AS jobs, max(d.id) AS last
    FROM (
        SELECT id FROM punctual_job
        WHERE cursor = c.id AND id > c.after AND status = 'ACTIVE'
        ORDER BY id
        LIMIT %(page)s
    ) AS d
) AS p
ORDER BY c.place

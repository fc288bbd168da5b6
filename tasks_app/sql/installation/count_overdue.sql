-- count_overdue: by lane, how many tasks were due before a moment, since when, how many of them before an earlier one, and of
-- how many a later firing of the same job is overdue, too. Exact up to `most` of each shard and limited type.
WITH
--include overdue
SELECT o.lane, count(*), min(o.due_at), count(*) FILTER (WHERE o.due_at < %(older)s::timestamptz),
       count(*) FILTER (WHERE o.job IS NOT NULL AND o.place > 1)
FROM (
    SELECT overdue.*, row_number() OVER (PARTITION BY coalesce(job, -id) ORDER BY fire_time DESC, id DESC) AS place
    FROM overdue
) AS o
GROUP BY o.lane

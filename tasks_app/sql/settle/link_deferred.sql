-- link_deferred: a task that was just made for a deferred effect learns from whom, the token to go on with, and for how
-- long it is retried; whoever deferred it, where it went. A task that was there before stays as it is.
-- Apart from the insert: what everybody schedules by has no column more for it.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(%(parents)s::bigint[], %(children)s::bigint[], %(new)s::bool[], %(tokens)s::uuid[],
                         %(retry_for)s::float8[])
    WITH ORDINALITY AS one(parent, child, new, token, retry_for, place)
), children AS (
    UPDATE punctual_task t
    SET deferred_from = given.parent, token = given.token, retry_for = make_interval(secs => given.retry_for)
    FROM given
    WHERE t.id = given.child AND given.new AND t.status = 'INIT'
)
UPDATE punctual_task t
SET deferred = went.children
FROM (SELECT parent, array_agg(child ORDER BY place) AS children FROM given GROUP BY parent) AS went
WHERE t.id = went.parent AND t.status = 'RUNNING' AND t.batch_no = %(batch_no)s

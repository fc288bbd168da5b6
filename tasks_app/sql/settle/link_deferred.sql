-- link_deferred: note in a new task of a deferred effect the task that deferred it, its token, and how long it is retried;
-- and in the deferring task, the new one. A task that existed before stays unchanged.
-- Separate from the insert, so that the insert for all other tasks needs no additional columns.
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

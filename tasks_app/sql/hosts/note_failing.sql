-- note_failing: these hosts have failed last. Of one task the failures count once: it may be the task that is wrong.
-- With so many in a row the host is unwell: its tasks wait, and one of them tries it, at longer and longer intervals.
-- `anew`: it had answered in between, so what was noted before is over. A batch that began before the host was found unwell,
-- and fails now, says nothing new: only the batch that tries the host moves its next try.
-- `least`: seconds that the receiver has asked for.
WITH given AS MATERIALIZED (
    SELECT g.tenant, g.host, g.failed, g.error, g.anew, g.least
    FROM jsonb_to_recordset(%(given)s::jsonb) AS g(tenant text, host text, failed bigint[], error text, anew bool, least float8)
    ORDER BY g.tenant, g.host
), noted AS (
    INSERT INTO punctual_host_health AS e (tenant, host, tasks, error, unwell_since, try_at)
    SELECT g.tenant, g.host, g.failed[1:%(most)s::int], g.error,
           CASE WHEN cardinality(g.failed) >= %(most)s THEN clock_timestamp() END,
           CASE WHEN cardinality(g.failed) >= %(most)s
                THEN clock_timestamp() + make_interval(secs => greatest(%(first)s::float8, g.least)) END
    FROM given g
    ORDER BY g.tenant, g.host
    ON CONFLICT (tenant, host) DO UPDATE
    SET (tasks, error, failed_at, failing_since, unwell_since, tries, try_at, trying, returned, crowd) = (
        SELECT now.tasks, excluded.error, clock_timestamp(),
               CASE WHEN g.anew THEN clock_timestamp() ELSE e.failing_since END,
               CASE WHEN NOT now.unwell THEN NULL WHEN g.anew THEN clock_timestamp()
                    ELSE coalesce(e.unwell_since, clock_timestamp()) END,
               CASE WHEN g.anew THEN 0 WHEN was.tried THEN e.tries + 1 ELSE e.tries END,
               CASE WHEN NOT now.unwell THEN NULL
                    WHEN g.anew OR e.unwell_since IS NULL
                    THEN clock_timestamp() + make_interval(secs => greatest(%(first)s::float8, g.least))
                    WHEN was.tried
                    THEN clock_timestamp() + make_interval(secs => greatest(
                             least(%(longest)s::float8, %(first)s::float8 * 2.0 ^ least(e.tries + 1, 10)), g.least))
                    ELSE e.try_at END,
               CASE WHEN g.anew OR was.tried THEN NULL ELSE e.trying END,
               CASE WHEN g.anew OR was.tried THEN 0 ELSE e.returned END,
               CASE WHEN g.anew THEN 0 WHEN was.tried THEN greatest(e.crowd, e.returned) ELSE e.crowd END
        FROM given g
        CROSS JOIN LATERAL (
            SELECT ARRAY(SELECT DISTINCT one FROM unnest(CASE WHEN g.anew THEN g.failed ELSE e.tasks || g.failed END) AS one
                         LIMIT %(most)s) AS tasks,
                   coalesce(e.unwell_since IS NOT NULL AND e.trying = %(batch_no)s, FALSE) AS tried
        ) AS was
        CROSS JOIN LATERAL (
            SELECT was.tasks, (e.unwell_since IS NOT NULL AND NOT g.anew) OR cardinality(was.tasks) >= %(most)s AS unwell
        ) AS now
        WHERE g.tenant = excluded.tenant AND g.host = excluded.host
    )
    RETURNING tenant, host, error, unwell_since, try_at, cardinality(tasks) AS failures, tries
)
SELECT tenant, host, error, unwell_since IS NOT NULL AS unwell, date_part('epoch', try_at - clock_timestamp()) AS try_in, failures,
       tries
FROM noted

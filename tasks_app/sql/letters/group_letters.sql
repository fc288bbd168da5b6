-- group_letters: open letters by their cause: how many, the first and the last. One step in the index for each cause, since
-- a million letters have few; and no cause is counted further than to a bound. A tag or a job, which no index knows, is
-- looked for among the latest letters of each cause. The last column says that there are more causes.
-- Rows are compared as wholes, and sorted by all that is compared: then only the index of causes will do. By an equality,
-- PostgreSQL's planner may take that of the time instead, and step over a million letters of other causes.
WITH RECURSIVE cause AS (
    (SELECT d.fingerprint, 1 AS nth FROM punctual_dead_letter d
     WHERE d.replay_status = 'OPEN' AND d.fingerprint >= coalesce(%(fingerprint)s::text, '')
     ORDER BY d.fingerprint
     LIMIT 1)
    UNION ALL
    SELECT following.fingerprint, cause.nth + 1
    FROM cause
    CROSS JOIN LATERAL (
        SELECT d.fingerprint FROM punctual_dead_letter d
        WHERE d.replay_status = 'OPEN' AND d.fingerprint > cause.fingerprint
        ORDER BY d.fingerprint
        LIMIT 1
    ) AS following
    WHERE cause.nth <= %(most)s
), seen AS MATERIALIZED (
    SELECT cause.fingerprint, last.*, first.created_at AS first_at
    FROM cause
    CROSS JOIN LATERAL (
        SELECT d.id, d.task_type, d.error_code, d.error_msg, d.frame, d.created_at AS last_at FROM punctual_dead_letter d
        WHERE d.replay_status = 'OPEN'
          AND (d.fingerprint, d.created_at) >= (cause.fingerprint, %(since)s::timestamptz)
          AND (d.fingerprint, d.created_at) < (cause.fingerprint, %(until)s::timestamptz)
        ORDER BY d.fingerprint DESC, d.created_at DESC, d.id DESC
        LIMIT 1
    ) AS last
    CROSS JOIN LATERAL (
        SELECT d.created_at FROM punctual_dead_letter d
        WHERE d.replay_status = 'OPEN'
          AND (d.fingerprint, d.created_at) >= (cause.fingerprint, %(since)s::timestamptz)
          AND (d.fingerprint, d.created_at) < (cause.fingerprint, %(until)s::timestamptz)
        ORDER BY d.fingerprint, d.created_at, d.id
        LIMIT 1
    ) AS first
    WHERE cause.nth <= %(most)s
      AND (%(fingerprint)s::text IS NULL OR cause.fingerprint = %(fingerprint)s)
      AND (%(types)s::text[] IS NULL OR last.task_type = ANY (%(types)s::text[]))
      AND (%(task_type)s::text IS NULL OR last.task_type = %(task_type)s)
), counted AS MATERIALIZED (
    SELECT seen.*, few.letters, few.letters AS looked_at
    FROM seen
    CROSS JOIN LATERAL (
        SELECT count(*) AS letters FROM (
            SELECT FROM punctual_dead_letter d
            WHERE d.replay_status = 'OPEN'
              AND (d.fingerprint, d.created_at) >= (seen.fingerprint, %(since)s::timestamptz)
              AND (d.fingerprint, d.created_at) < (seen.fingerprint, %(until)s::timestamptz)
            LIMIT %(bound)s
        ) AS one
    ) AS few
    WHERE %(tag)s::text IS NULL AND %(job)s::bigint IS NULL
    UNION ALL
    SELECT seen.*, few.letters, few.looked_at
    FROM seen
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE one.matches) AS letters, count(*) AS looked_at FROM (
            SELECT
--include letter_matches
                   AS matches
            FROM punctual_dead_letter d
            WHERE d.replay_status = 'OPEN'
              AND (d.fingerprint, d.created_at) >= (seen.fingerprint, %(since)s::timestamptz)
              AND (d.fingerprint, d.created_at) < (seen.fingerprint, %(until)s::timestamptz)
            ORDER BY d.fingerprint DESC, d.created_at DESC, d.id DESC
            LIMIT %(sample)s
        ) AS one
    ) AS few
    WHERE %(tag)s::text IS NOT NULL OR %(job)s::bigint IS NOT NULL
)
SELECT fingerprint, task_type, error_code, error_msg, frame, id, first_at, last_at, letters, looked_at,
       (SELECT count(*) FROM cause) > %(most)s
FROM counted
WHERE letters > 0
ORDER BY letters DESC, last_at DESC, fingerprint
LIMIT %(size)s

-- group_own_letters: group_letters for one tenant, by the index that begins with the tenant.
WITH RECURSIVE cause AS (
    (SELECT d.fingerprint, 1 AS nth FROM punctual_dead_letter d
     WHERE d.replay_status = 'OPEN' AND (d.tenant, d.fingerprint) >= (%(tenant)s::text, coalesce(%(fingerprint)s::text, '')) AND d.tenant <= %(tenant)s::text
     ORDER BY d.tenant, d.fingerprint
     LIMIT 1)
    UNION ALL
    SELECT following.fingerprint, cause.nth + 1
    FROM cause
    CROSS JOIN LATERAL (
        SELECT d.fingerprint FROM punctual_dead_letter d
        WHERE d.replay_status = 'OPEN' AND (d.tenant, d.fingerprint) > (%(tenant)s::text, cause.fingerprint) AND d.tenant <= %(tenant)s::text
        ORDER BY d.tenant, d.fingerprint
        LIMIT 1
    ) AS following
    WHERE cause.nth <= %(most)s
), seen AS MATERIALIZED (
    SELECT cause.fingerprint, last.*, first.created_at AS first_at
    FROM cause
    CROSS JOIN LATERAL (
        SELECT d.id, d.task_type, d.error_code, d.error_msg, d.frame, d.created_at AS last_at FROM punctual_dead_letter d
        WHERE d.replay_status = 'OPEN'
          AND (d.tenant, d.fingerprint, d.created_at) >= (%(tenant)s::text, cause.fingerprint, %(since)s::timestamptz)
          AND (d.tenant, d.fingerprint, d.created_at) < (%(tenant)s::text, cause.fingerprint, %(until)s::timestamptz)
        ORDER BY d.tenant DESC, d.fingerprint DESC, d.created_at DESC, d.id DESC
        LIMIT 1
    ) AS last
    CROSS JOIN LATERAL (
        SELECT d.created_at FROM punctual_dead_letter d
        WHERE d.replay_status = 'OPEN'
          AND (d.tenant, d.fingerprint, d.created_at) >= (%(tenant)s::text, cause.fingerprint, %(since)s::timestamptz)
          AND (d.tenant, d.fingerprint, d.created_at) < (%(tenant)s::text, cause.fingerprint, %(until)s::timestamptz)
        ORDER BY d.tenant, d.fingerprint, d.created_at, d.id
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
              AND (d.tenant, d.fingerprint, d.created_at) >= (%(tenant)s::text, seen.fingerprint, %(since)s::timestamptz)
              AND (d.tenant, d.fingerprint, d.created_at) < (%(tenant)s::text, seen.fingerprint, %(until)s::timestamptz)
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
              AND (d.tenant, d.fingerprint, d.created_at) >= (%(tenant)s::text, seen.fingerprint, %(since)s::timestamptz)
              AND (d.tenant, d.fingerprint, d.created_at) < (%(tenant)s::text, seen.fingerprint, %(until)s::timestamptz)
            ORDER BY d.tenant DESC, d.fingerprint DESC, d.created_at DESC, d.id DESC
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

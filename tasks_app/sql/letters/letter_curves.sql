-- letter_curves: how many open letters of these causes came in each of some steps of time, each counted up to a bound.
SELECT wanted.fingerprint, array_agg(step.letters ORDER BY number)
FROM unnest(%(fingerprints)s::text[]) AS wanted(fingerprint)
CROSS JOIN generate_series(0, %(steps)s::int - 1) AS number
CROSS JOIN LATERAL (
    SELECT count(*) AS letters FROM (
        SELECT FROM punctual_dead_letter d
        WHERE d.replay_status = 'OPEN' AND d.fingerprint = wanted.fingerprint AND
--rows
          AND d.created_at >= %(since)s::timestamptz + number * %(step)s::interval
          AND d.created_at < %(since)s::timestamptz + (number + 1) * %(step)s::interval
        LIMIT %(bound)s
    ) AS one
) AS step
GROUP BY wanted.fingerprint

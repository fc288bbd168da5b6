-- letter_curves: how many open letters of these causes came in each of some steps of time, each counted up to a bound.
-- `--rows` says of whom: it compares rows as wholes, as in group_letters.
SELECT step.fingerprint, array_agg(few.letters ORDER BY step.number)
FROM (
    SELECT wanted.fingerprint, number, %(since)s::timestamptz + number * %(step)s::interval AS low,
           %(since)s::timestamptz + (number + 1) * %(step)s::interval AS high
    FROM unnest(%(fingerprints)s::text[]) AS wanted(fingerprint)
    CROSS JOIN generate_series(0, %(steps)s::int - 1) AS number
) AS step
CROSS JOIN LATERAL (
    SELECT count(*) AS letters FROM (
        SELECT FROM punctual_dead_letter d
        WHERE d.replay_status = 'OPEN' AND
--rows
        LIMIT %(bound)s
    ) AS one
) AS few
GROUP BY step.fingerprint

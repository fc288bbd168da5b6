-- sieves: what is known of the past in its hot time. Of a partition with a sieve, whether it may hold something; the rest
-- of the time, in stretches, has none.
hot AS MATERIALIZED (
    SELECT name AS retention, statement_timestamp() - make_interval(secs => hot) AS since
    FROM unnest(%(classes)s::text[], %(hot)s::float8[]) AS c(name, hot)
), sieves AS MATERIALIZED (
    SELECT s.id, s.buckets, s.retention, greatest(s.since, hot.since) AS since, s.until
    FROM punctual_sieve s
    JOIN hot USING (retention)
    WHERE s.ready AND s.until > hot.since AND
--include sieve_counts
), unsieved AS MATERIALIZED (
    SELECT retention, lower(stretch) AS since, coalesce(upper(stretch), 'infinity') AS until
    FROM (
        SELECT hot.retention, unnest(tstzmultirange(tstzrange(hot.since, NULL))
                                     - coalesce(range_agg(tstzrange(s.since, s.until)) FILTER (WHERE s.id IS NOT NULL),
                                                tstzmultirange())) AS stretch
        FROM hot
        LEFT JOIN sieves s USING (retention)
        GROUP BY hot.retention, hot.since
    ) AS one
)

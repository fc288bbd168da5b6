-- late_minutes: whole minutes in which more finished, or was told, than their figures say: it was committed after they were rolled
-- up, as when a standby has kept all commits waiting.
SELECT minute FROM (
    SELECT date_trunc('minute', finished_at) AS minute, count(*) AS more FROM punctual_any_batch
    WHERE finished_at >= %(since)s AND finished_at < %(until)s
    GROUP BY 1
    UNION ALL
    SELECT date_trunc('minute', at), sum(ok + failed) FROM punctual_away_outcome
    WHERE at >= %(since)s AND at < %(until)s
    GROUP BY 1
    UNION ALL
    SELECT minute, -sum(batches + returned) FROM punctual_minute_figures
    WHERE minute >= %(since)s AND minute < %(until)s
    GROUP BY 1
) AS counted
GROUP BY minute HAVING sum(more) > 0
ORDER BY minute

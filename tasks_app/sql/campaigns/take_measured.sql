-- take_measured: a campaign whose released tasks are to be looked at, locked, as for a step: never two at a time.
SELECT id FROM punctual_campaign
WHERE measure_at <= (SELECT clock_timestamp())
ORDER BY measure_at
LIMIT 1
FOR NO KEY UPDATE SKIP LOCKED

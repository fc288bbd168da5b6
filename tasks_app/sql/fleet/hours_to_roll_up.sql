-- hours_to_roll_up: the next whole hours that nobody has summed up, at most so many, and the end of the last hour that ended
-- `late` seconds ago. They begin after the last one that is there, or else with the first minute. No row: there is nothing to sum.
-- Hours are those of UTC, whatever the zone of the session.
SELECT since, least(since + make_interval(hours => %(most)s), newest), newest
FROM (
    SELECT greatest(first, newest - make_interval(hours => %(keep)s)) AS since, newest
    FROM (
        SELECT coalesce((SELECT max(hour) + interval '1 hour' FROM punctual_hour_figures),
                        (SELECT date_trunc('hour', min(minute), 'UTC') FROM punctual_minute_figures)) AS first,
               date_trunc('hour', clock_timestamp() - make_interval(secs => %(late)s), 'UTC') AS newest
    ) AS known
    WHERE first IS NOT NULL
) AS span
WHERE since < newest

-- status_sample: what is due, and what comes due in each of the next minutes, guessed from some pages of the table.
-- For when there is too much to count. Minute -1 is what is due already.
SELECT lane, greatest(floor(extract(epoch FROM due_at - now.at) / 60), -1)::int AS minute, count(*)
FROM (SELECT clock_timestamp() AS at) AS now, punctual_task TABLESAMPLE SYSTEM (%(percent)s)
WHERE due_at < now.at + make_interval(mins => %(minutes)s)
GROUP BY 1, 2

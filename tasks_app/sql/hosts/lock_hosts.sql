-- lock_hosts: the limits of these hosts, so that one worker counts at a time. What it counts, it reads in the next
-- statement, whose snapshot has what the one before it has taken.
SELECT host FROM punctual_host
WHERE host = ANY (%(hosts)s::text[])
ORDER BY host
FOR UPDATE

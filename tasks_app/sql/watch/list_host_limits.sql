-- list_host_limits: the hosts that have a limit, what is left of it, and how many calls are being made.
SELECT l.host, l.max_running, l.rate, l.burst,
       least(l.burst, l.permits + l.rate * greatest(0, extract(epoch FROM clock_timestamp() - l.filled_at)::float8)) AS permits,
       (SELECT coalesce(sum(p.held), 0)::int
        FROM punctual_host_permit p JOIN punctual_batch b ON b.batch_no = p.batch_no AND b.finished_at IS NULL
        WHERE p.host = l.host) AS running
FROM punctual_host l
ORDER BY l.host
LIMIT %(most)s

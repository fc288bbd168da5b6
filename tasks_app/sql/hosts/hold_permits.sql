-- hold_permits: for a batch, as many places and permits of these hosts as there are; the caller holds their locks.
-- A place belongs to a batch until that is finished, which it also is when its worker died and it was reaped.
-- A permit is spent when it is given. Without a place none is, and without a permit no place is taken.
-- Returns what each host gave: how many calls at a time, how many in all, and of what.
WITH asked AS MATERIALIZED (
    SELECT l.host, a.tasks, l.max_running, l.rate,
           least(l.burst, l.permits + l.rate * greatest(0, extract(epoch FROM clock_timestamp() - l.filled_at)::float8)) AS filled
    FROM unnest(%(hosts)s::text[], %(tasks)s::int[]) AS a(host, tasks) JOIN punctual_host l ON l.host = a.host
), gone AS (
    DELETE FROM punctual_host_permit p
    USING asked
    WHERE p.host = asked.host
      AND NOT EXISTS (SELECT FROM punctual_batch b WHERE b.batch_no = p.batch_no AND b.finished_at IS NULL)
), used AS MATERIALIZED (
    SELECT p.host, sum(p.held)::int AS held
    FROM asked JOIN punctual_host_permit p ON p.host = asked.host
    JOIN punctual_batch b ON b.batch_no = p.batch_no AND b.finished_at IS NULL
    WHERE p.batch_no <> %(batch_no)s
    GROUP BY p.host
), room AS MATERIALIZED (
    SELECT a.*, coalesce(u.held, 0) AS held,
           CASE WHEN a.max_running IS NULL THEN %(most)s::int ELSE greatest(0, a.max_running - coalesce(u.held, 0)) END AS places,
           CASE WHEN a.rate IS NULL THEN a.tasks ELSE least(a.tasks, floor(a.filled)::int) END AS permits
    FROM asked a LEFT JOIN used u ON u.host = a.host
), granted AS MATERIALIZED (
    SELECT host, least(places, permits, %(most)s::int) AS places, CASE WHEN places > 0 THEN permits ELSE 0 END AS permits,
           max_running, rate, filled, held
    FROM room
), spent AS (
    UPDATE punctual_host l SET permits = g.filled - g.permits, filled_at = clock_timestamp()
    FROM granted g
    WHERE l.host = g.host AND g.rate IS NOT NULL
), taken AS (
    INSERT INTO punctual_host_permit (host, batch_no, held)
    SELECT host, %(batch_no)s::uuid, places FROM granted WHERE max_running IS NOT NULL AND places > 0
    ON CONFLICT (host, batch_no) DO UPDATE SET held = excluded.held
)
SELECT host, places, permits, max_running, rate, filled, held FROM granted

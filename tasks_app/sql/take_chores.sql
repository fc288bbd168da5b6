-- take_chores: report this beat, and take the chores that are due; a chore is taken by one beat each time.
-- One whose time is further away than it is ever set was planned by a clock that has been set back since, or by another
-- setting: it is due, too.
-- A reap with nothing to reap is taken and not returned: that is the common case, and costs no second statement.
WITH
--include report_beat
, taken AS (
    UPDATE maintenance_entry e
    SET next_at = clock_timestamp() + make_interval(secs => c.every), ran_at = clock_timestamp(), ran_by = %(name)s
    FROM unnest(%(names)s::text[], %(everys)s::float8[]) AS c(name, every)
    WHERE e.name = c.name
      AND (e.next_at <= clock_timestamp() OR e.next_at > clock_timestamp() + make_interval(secs => c.every))
    RETURNING e.name
)
SELECT name FROM taken
WHERE name <> 'reap'
   OR EXISTS (SELECT FROM task_batch WHERE finished_at IS NULL AND lease_until < clock_timestamp())

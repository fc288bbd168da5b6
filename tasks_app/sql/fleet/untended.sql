-- untended: partitions of ours that have no settings yet, and the tables that have partitions by time. Of those that have them in
-- turn, the uppermost: that is what statements name.
SELECT c.oid::regclass::text, c.relkind = 'p'
FROM pg_class c
WHERE starts_with(c.relname, 'punctual_')
  AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'punctual_task'::regclass)
  AND ((c.relkind = 'p' AND NOT c.relispartition) OR (c.relkind = 'r' AND c.relispartition AND c.reloptions IS NULL))
ORDER BY c.relname

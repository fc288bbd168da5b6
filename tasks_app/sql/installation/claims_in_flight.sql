-- claims_in_flight: transactions that have claimed or started something, or are about to.
-- A statement locks its tables before it takes its snapshot. So one that has not yet seen what was committed before this
-- look holds these locks now, or has ended: a claim or a start reads punctual_installation and writes punctual_batch.
-- Reads (a dump, a page) hold the first alone, settles the second; and who opens a site writes to the first, too.
SELECT l.virtualtransaction, l.pid
FROM pg_locks l
WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
  AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
  AND (l.relation = 'punctual_installation'::regclass
       OR l.relation = 'punctual_batch'::regclass AND l.mode = 'RowExclusiveLock')
GROUP BY l.virtualtransaction, l.pid
HAVING count(DISTINCT l.relation) = 2
   AND bool_and(l.relation = 'punctual_batch'::regclass OR l.mode = 'AccessShareLock')

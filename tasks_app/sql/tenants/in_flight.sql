-- in_flight: transactions that may still write for a tenant as if it were not archived: those that have looked at a tenant, or
-- write tasks or jobs. A statement locks its tables before it takes its snapshot: so one that has not seen what was committed
-- before this look holds such a lock now, or has ended.
SELECT DISTINCT l.virtualtransaction, l.pid
FROM pg_locks l
WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
  AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
  AND (l.relation = 'punctual_tenant'::regclass
       OR l.mode = 'RowExclusiveLock' AND l.relation IN ('punctual_task'::regclass, 'punctual_past'::regclass,
                                                         'punctual_job'::regclass))

-- storage_parameters: for tables whose rows change or leave as fast as they arrive; docs/storage.md has the reasons.
-- vacuum_index_cleanup: dead entries of claimed tasks lie at the front of the due-time index, which each poll reads.
-- vacuum_truncate: giving back the last pages takes a lock that readers wait for, and the pages are needed again.
ALTER TABLE punctual_batch SET (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0, vacuum_index_cleanup = on, vacuum_truncate = off,
    toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_cost_delay = 0, toast.vacuum_truncate = off);
ALTER TABLE punctual_task SET (
    fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on,
    vacuum_truncate = off, toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_cost_delay = 0,
    toast.vacuum_truncate = off);
ALTER TABLE punctual_audit_unchained SET (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE punctual_campaign SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_campaign_chunk SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE punctual_chore SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_count SET (
    fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.2);
ALTER TABLE punctual_count_pass SET (fillfactor = 50, autovacuum_vacuum_threshold = 100);
ALTER TABLE punctual_delivery SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
ALTER TABLE punctual_host SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_host_health SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_host_permit SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
ALTER TABLE punctual_idempotency_record SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE punctual_job_cursor SET (
    fillfactor = 80, vacuum_index_cleanup = on, autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500);
ALTER TABLE punctual_node SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_outbox_window SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
ALTER TABLE punctual_progress SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_shard_lease SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_sign SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_subscription SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_timetable SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_trace SET (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE punctual_turn SET (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE punctual_type_limit SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_unit_revision SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE punctual_wait SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.1);
ALTER TABLE punctual_batch ALTER ids SET STORAGE EXTERNAL;
-- ANALYZE would take seconds to count the ids in thousands of batches, and no statement searches these lists.
ALTER TABLE punctual_batch ALTER ids SET STATISTICS 0, ALTER lateness SET STATISTICS 0;

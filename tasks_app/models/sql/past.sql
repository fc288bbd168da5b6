-- past: finished tasks and batches, as they were: columns of the live tables, without defaults and constraints.
-- Tasks are partitioned by retention class, then by time; batches by time.
CREATE TABLE punctual_past (
    id bigint NOT NULL,
    tenant varchar(63) COLLATE "C" NOT NULL,
    task_type varchar(100) COLLATE "C" NOT NULL,
    biz_key varchar(200) COLLATE "C" NOT NULL,
    current boolean NOT NULL,
    replaces bigint,
    idem_key varchar(200) COLLATE "C",
    token uuid NOT NULL,
    status varchar(9) NOT NULL,
    execute_time timestamptz NOT NULL,
    due_at timestamptz,
    claimed_due timestamptz,
    lane varchar(8) COLLATE "C" NOT NULL,
    shard smallint NOT NULL,
    solo boolean NOT NULL,
    batch_no uuid,
    attempt integer NOT NULL,
    retry_count integer NOT NULL,
    max_retry smallint NOT NULL,
    repeat_after interval,
    expires_after interval,
    start_time timestamptz,
    finish_time timestamptz,
    error_code varchar(50) NOT NULL,
    error_msg text NOT NULL,
    cancelled_by varchar(150) NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    limited boolean NOT NULL,
    fire_time timestamptz,
    job bigint,
    cancelled_from varchar(63) COLLATE "C",
    allowed_at timestamptz,
    result jsonb,
    ran_in uuid,
    retention varchar(20) COLLATE "C" NOT NULL,
    worker varchar(200),
    deferred_from bigint,
    deferred bigint[],
    retry_for interval,
    payload_bytes bytea,
    asked_by varchar(150)
) PARTITION BY LIST (retention);
CREATE INDEX punctual_past_unit ON punctual_past (biz_key, task_type, tenant, id);
CREATE INDEX punctual_past_id ON punctual_past (id);
CREATE INDEX punctual_past_job ON punctual_past (job, fire_time) WHERE job IS NOT NULL;
CREATE INDEX punctual_past_idem ON punctual_past (tenant, idem_key) WHERE idem_key IS NOT NULL;

CREATE TABLE punctual_past_batch (LIKE punctual_batch) PARTITION BY RANGE (finished_at);
ALTER TABLE punctual_past_batch ALTER ids SET STATISTICS 0, ALTER lateness SET STATISTICS 0;
CREATE INDEX punctual_past_batch_done ON punctual_past_batch (finished_at);
CREATE INDEX punctual_past_batch_no ON punctual_past_batch (batch_no);

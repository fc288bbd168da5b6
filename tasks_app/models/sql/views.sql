-- views: live and finished tasks and batches as one; and jobs, runs, retries and dead tasks under the names of the
-- requirements. security_invoker: a role sees only the rows that the policies of the tables show it.
CREATE VIEW punctual_any_task WITH (security_invoker = true) AS
SELECT
    id, tenant, task_type, biz_key, current, replaces, idem_key, token, status, execute_time, due_at, claimed_due,
    lane, shard, solo, batch_no, attempt, retry_count, max_retry, repeat_after, expires_after, start_time,
    finish_time, error_code, error_msg, cancelled_by, payload, created_at, updated_at, limited, fire_time, job,
    cancelled_from, allowed_at, result, ran_in, NULL::varchar(20) COLLATE "C" AS retention,
    NULL::varchar(200) AS worker, deferred_from, deferred, retry_for, payload_bytes, asked_by
FROM punctual_task
UNION ALL
SELECT
    id, tenant, task_type, biz_key, current, replaces, idem_key, token, status, execute_time, due_at, claimed_due,
    lane, shard, solo, batch_no, attempt, retry_count, max_retry, repeat_after, expires_after, start_time,
    finish_time, error_code, error_msg, cancelled_by, payload, created_at, updated_at, limited, fire_time, job,
    cancelled_from, allowed_at, result, ran_in, retention, worker, deferred_from, deferred, retry_for, payload_bytes,
    asked_by
FROM punctual_past;

CREATE VIEW punctual_any_batch WITH (security_invoker = true) AS
SELECT
    batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, worker, started_at, finished_at, reaped, ok,
    failed, run_us, lateness, allowed_at, ticket
FROM punctual_batch
UNION ALL
SELECT
    batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, worker, started_at, finished_at, reaped, ok,
    failed, run_us, lateness, allowed_at, ticket
FROM punctual_past_batch;

CREATE VIEW punctual_job_definition WITH (security_invoker = true) AS
SELECT id AS job_id, tenant AS tenant_id, nullif(cron, '') AS cron, timezone, status, lane AS priority,
       jsonb_build_object('max_retry', max_retry, 'backoff', backoff) AS retry_policy, created_at
FROM punctual_job;


CREATE VIEW punctual_job_instance WITH (security_invoker = true) AS
SELECT t.id AS instance_id, t.job AS job_id, t.fire_time, t.status AS state, t.attempt,
       nullif(coalesce(t.worker, (SELECT b.worker FROM punctual_any_batch b
                                  WHERE b.batch_no = coalesce(t.batch_no, t.ran_in) LIMIT 1)), '') AS worker_id,
       t.idem_key, t.updated_at
FROM punctual_any_task t;


CREATE VIEW punctual_retry_entry WITH (security_invoker = true) AS
SELECT id AS instance_id, due_at AS next_fire_time, attempt, error_code AS reason
FROM punctual_task
WHERE status = 'FAIL' AND due_at IS NOT NULL;


CREATE VIEW punctual_dlq_entry WITH (security_invoker = true) AS
SELECT task_id AS instance_id, error_code, 'tasks/' || task_id AS payload_ref, created_at, replay_status
FROM punctual_dead_letter;

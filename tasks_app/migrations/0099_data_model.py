"""Jobs, their instances, retries and dead tasks under the names that the requirements give them: views, to read."""

from django.db import migrations

# security_invoker: a view shows a role only the rows that the policies of its tables show to that role.
VIEWS = """
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
"""
DROP_VIEWS = """
DROP VIEW punctual_dlq_entry;
DROP VIEW punctual_retry_entry;
DROP VIEW punctual_job_instance;
DROP VIEW punctual_job_definition;
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0098_recovery_trouble")]

    operations = [migrations.RunSQL(VIEWS, DROP_VIEWS)]

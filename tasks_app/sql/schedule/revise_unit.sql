-- revise_unit: this change is the unit's newest, unless a newer one was applied already; then no row comes back.
INSERT INTO punctual_unit_revision (tenant, task_type, biz_key, revision)
VALUES (%(tenant)s, %(task_type)s, %(key)s, %(revision)s)
ON CONFLICT (biz_key, task_type, tenant) DO UPDATE SET revision = excluded.revision, changed_at = now()
WHERE punctual_unit_revision.revision <= excluded.revision
RETURNING revision

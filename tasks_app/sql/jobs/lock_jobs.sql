-- lock_jobs: jobs whose instances are made by somebody else than a planner stay as they are until that is committed; those
-- that are gone are left out. In order of id; other triggers, and a planner that counts runs, go on.
SELECT id, tenant, task_type FROM punctual_job WHERE id = ANY (%(jobs)s::bigint[]) ORDER BY id FOR KEY SHARE

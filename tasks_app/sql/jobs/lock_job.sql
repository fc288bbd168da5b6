-- lock_job: a job that is to be triggered stays as it is. Other triggers, and a planner that counts its runs, go on.
SELECT id FROM punctual_job WHERE tenant = %(tenant)s AND id = %(job)s FOR KEY SHARE

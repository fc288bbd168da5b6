-- changes: marks that differ from the last ones when something of a kind has changed since; what they are says nothing.
-- Asked every second by a web process with open consoles, so each is the end of an index or a handful of rows. Tasks that
-- code moves or cancels leave only the table's own count of updates, which PostgreSQL brings up to date within 10 s.
SELECT concat_ws(' ',
           (SELECT id FROM punctual_task ORDER BY id DESC LIMIT 1),
           (SELECT finished_at FROM punctual_batch WHERE finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT 1),
           (SELECT count(*) FROM (SELECT FROM punctual_batch WHERE finished_at IS NULL LIMIT 1000) open),
           (SELECT count(started_at) FROM (SELECT started_at FROM punctual_batch WHERE finished_at IS NULL LIMIT 1000) open),
           pg_stat_get_tuples_updated('punctual_task'::regclass)) AS tasks,
       concat_ws(' ',
           (SELECT id FROM punctual_dead_letter ORDER BY id DESC LIMIT 1),
           (SELECT closed_at FROM punctual_dead_letter WHERE closed_at IS NOT NULL ORDER BY closed_at DESC LIMIT 1),
           (SELECT id FROM punctual_audit_entry ORDER BY created_at DESC, id DESC LIMIT 1)) AS letters,
       concat_ws(' ',
           (SELECT id FROM punctual_campaign ORDER BY id DESC LIMIT 1),
           (SELECT concat_ws(' ', count(*), sum(done), sum(failures))
            FROM (SELECT done, failures FROM punctual_campaign WHERE finished_at IS NULL LIMIT 1000) open),
           (SELECT finished_at FROM punctual_campaign WHERE finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT 1),
           (SELECT concat_ws(' ', count(*), sum(waiting))
            FROM (SELECT waiting FROM punctual_campaign WHERE measure_at IS NOT NULL LIMIT 1000) measured)) AS campaigns,
       concat_ws(' ',
           (SELECT id FROM punctual_audit_entry ORDER BY created_at DESC, id DESC LIMIT 1),
           (SELECT id FROM punctual_run ORDER BY id DESC LIMIT 1),
           pg_stat_get_tuples_updated('punctual_job'::regclass)) AS orders

-- status_backups: each place for backups: how far behind it is, how old its newest base is, and when one was last restored.
SELECT p.number, p.place, extract(epoch FROM clock_timestamp() - p.covered_until)::float8, p.behind_bytes,
       extract(epoch FROM clock_timestamp() - p.seen_at)::float8, p.base,
       extract(epoch FROM clock_timestamp() - p.base_at)::float8, p.base_bytes, p.bases, p.restored,
       extract(epoch FROM clock_timestamp() - p.restored_at)::float8, p.error,
       extract(epoch FROM clock_timestamp() - p.error_since)::float8
FROM punctual_backup_place p
ORDER BY p.number

-- note_places: what is known of each place for backups, and the moment and the position of the log at which this was asked:
-- a place that has the log up to there has all that was committed before. What is not told stays as it was last known; a
-- place that is no longer in the settings is forgotten.
-- The commit waits for nobody: whoever notes this may be the one who starts the receiver again that commits wait for.
WITH told AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(told)s::jsonb)
        AS t (number int2, place text, covered_until timestamptz, behind_bytes int8, base text, base_at timestamptz,
              base_bytes int8, bases int4, restored text, restored_at timestamptz, error text)
), forgotten AS (
    DELETE FROM punctual_backup_place WHERE place <> ALL (SELECT t.place FROM told t)
), noted AS (
    INSERT INTO punctual_backup_place AS p
        (place, number, seen_at, covered_until, behind_bytes, base, base_at, base_bytes, bases, restored, restored_at,
         error, error_since)
    SELECT t.place, t.number, clock_timestamp(), t.covered_until, t.behind_bytes, t.base, t.base_at, t.base_bytes, t.bases,
           t.restored, t.restored_at, t.error, CASE WHEN t.error <> '' THEN clock_timestamp() END
    FROM told t
    ON CONFLICT (place) DO UPDATE
    SET number = excluded.number, seen_at = excluded.seen_at,
        covered_until = greatest(p.covered_until, excluded.covered_until),
        behind_bytes = coalesce(excluded.behind_bytes, p.behind_bytes),
        base = coalesce(excluded.base, p.base),
        base_at = CASE WHEN excluded.base IS NULL THEN p.base_at ELSE excluded.base_at END,
        base_bytes = coalesce(excluded.base_bytes, p.base_bytes),
        bases = coalesce(excluded.bases, p.bases),
        restored = coalesce(excluded.restored, p.restored),
        restored_at = CASE WHEN excluded.restored IS NULL THEN p.restored_at ELSE excluded.restored_at END,
        error = excluded.error,
        error_since = CASE WHEN excluded.error <> '' THEN coalesce(p.error_since, excluded.error_since) END
)
SELECT clock_timestamp(), pg_current_wal_flush_lsn()::text
WHERE (SELECT set_config('synchronous_commit', 'off', TRUE)) = 'off'

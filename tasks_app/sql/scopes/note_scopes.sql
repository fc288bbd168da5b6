-- note_scopes: tries of scopes that were just settled; the next beat that looks adds them up.
INSERT INTO punctual_scope_outcome (tenant, target, backfill, ok, failed)
SELECT * FROM unnest(%(tenants)s::text[], %(targets)s::text[], %(backfills)s::bool[], %(oks)s::int[], %(faileds)s::int[])

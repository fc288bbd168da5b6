-- adopt: this server is the installation's, from now on.
UPDATE punctual_installation
SET facts = %(facts)s::jsonb, environment = coalesce(nullif(%(environment)s, ''), environment), seen_at = clock_timestamp()
WHERE id = 1

-- adopt: this server is the installation's, from now on.
UPDATE punctual_installation
SET facts = %(facts)s::jsonb, environment = coalesce(nullif(%(environment)s, ''), environment),
    seen_at = CASE WHEN %(alive)s THEN clock_timestamp() ELSE seen_at END
WHERE id = 1

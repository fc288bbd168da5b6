-- adopt: this server is the installation's, from now on.
WITH alive AS (
    INSERT INTO punctual_sign (kind, address, at) SELECT 'beat', '', clock_timestamp() WHERE %(alive)s
    ON CONFLICT (kind, address) DO UPDATE SET at = excluded.at
)
UPDATE punctual_installation
SET facts = %(facts)s::jsonb, environment = coalesce(nullif(%(environment)s, ''), environment)
WHERE id = 1

-- learn_facts: whoever looked first was told less than this process is, and the rest is noted, too.
UPDATE punctual_installation SET facts = %(facts)s::jsonb WHERE id = 1 AND state <> 'QUARANTINED'

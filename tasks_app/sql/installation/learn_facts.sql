-- learn_facts: whoever looked first was told less than this process is, and the rest is noted, too; unless somebody has
-- noted other facts meanwhile.
UPDATE punctual_installation SET facts = %(facts)s::jsonb WHERE id = 1 AND state <> 'QUARANTINED' AND facts <@ %(known)s::jsonb

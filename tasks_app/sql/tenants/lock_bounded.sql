-- lock_bounded: how many tasks each of these tenants may have at the same time. Until this transaction ends nobody else begins any
-- of theirs: whoever counts next does so after what is decided here.
SELECT name, max_running FROM punctual_tenant
WHERE name = ANY (%(tenants)s::text[]) AND max_running IS NOT NULL
ORDER BY name
FOR NO KEY UPDATE

-- newest_keys: of these tenants, what new data is encrypted with, and whether they ask for all of theirs to be. The key is
-- empty if there is none yet, or if it was destroyed: then the last one is told.
SELECT given.name, newest.id, newest.sealed, newest.in_bytes, coalesce(q.encrypted, FALSE), q.max_payload_bytes,
       (SELECT max(k.id) FROM punctual_tenant_key k WHERE k.tenant = given.name AND k.destroyed_at IS NOT NULL)
FROM unnest(%(names)s::text[]) AS given(name)
LEFT JOIN punctual_tenant_key newest ON newest.tenant = given.name AND newest.encrypts
LEFT JOIN punctual_tenant q ON q.name = given.name

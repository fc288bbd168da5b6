-- move_heads: how far these trails go now. Only ever further.
INSERT INTO punctual_audit_trail AS t (tenant, place, hash, floor_hash)
SELECT tenant, place, hash, decode(repeat('00', 32), 'hex')
FROM unnest(%(tenants)s::text[], %(places)s::bigint[], %(hashes)s::bytea[]) AS given(tenant, place, hash)
ON CONFLICT (tenant) DO UPDATE SET place = excluded.place, hash = excluded.hash WHERE t.place < excluded.place
RETURNING tenant

-- keys_by_number: these keys of tenants, sealed; the text of one that was destroyed is empty.
SELECT id, tenant, sealed FROM punctual_tenant_key WHERE id = ANY (%(numbers)s::bigint[])

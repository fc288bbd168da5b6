-- heads: how far the trails of these tenants go.
SELECT tenant, place, hash FROM punctual_audit_trail WHERE tenant = ANY (%(tenants)s::text[])

-- key_masters: which of the installation's keys those of tenants are sealed with; one step through the index for each.
WITH RECURSIVE m AS (
    SELECT min(split_part(k.sealed, '.', 2)) AS id FROM punctual_tenant_key k WHERE k.sealed > ''
    UNION ALL
    SELECT (SELECT min(split_part(k.sealed, '.', 2)) FROM punctual_tenant_key k
            WHERE k.sealed > '' AND split_part(k.sealed, '.', 2) > m.id)
    FROM m WHERE m.id IS NOT NULL
)
SELECT id FROM m WHERE id IS NOT NULL

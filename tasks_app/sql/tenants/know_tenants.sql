-- know_tenants: a row for each of these that has none.
INSERT INTO punctual_tenant (name)
SELECT given.name FROM unnest(%(names)s::text[]) AS given(name)
WHERE NOT EXISTS (SELECT FROM punctual_tenant t WHERE t.name = given.name)
ORDER BY given.name
ON CONFLICT DO NOTHING

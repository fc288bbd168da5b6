-- find_idem: the rows that hold these idempotency keys.
SELECT t.tenant, t.idem_key, t.id
FROM punctual_task t
JOIN unnest(%(tenants)s::text[], %(idem_keys)s::text[]) AS u(tenant, idem_key)
  ON t.tenant = u.tenant AND t.idem_key = u.idem_key

-- over_quota: of these tenants, those that may not have everything they ask for, or not in the clear, and why.
SELECT name, at_limit, max_tasks, tasks, max_payload_bytes, closed, encrypted FROM punctual_tenant
WHERE name = ANY (%(names)s::text[]) AND (at_limit OR max_payload_bytes IS NOT NULL OR encrypted OR closed)

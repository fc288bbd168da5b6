-- For new_row and new_alike: no row for a tenant that is bound by something that counts.
WHERE NOT EXISTS (SELECT FROM punctual_tenant q
                  WHERE q.name = %(tenant)s::text AND (q.at_limit OR q.max_payload_bytes IS NOT NULL OR q.encrypted OR q.closed
                                                 OR q.schedules_per_second IS NOT NULL))

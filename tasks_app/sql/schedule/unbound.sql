-- The tenant is bound by nothing that counts.
      NOT EXISTS (SELECT FROM punctual_tenant q
                  WHERE q.name = %(tenant)s::text AND (q.at_limit OR q.max_payload_bytes IS NOT NULL OR q.encrypted OR q.closed
                                                 OR q.schedules_per_second IS NOT NULL))

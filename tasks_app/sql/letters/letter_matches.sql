-- What is asked of a dead letter beside what its index knows.
           (%(tenant)s::text IS NULL OR d.tenant = %(tenant)s)
           AND (%(types)s::text[] IS NULL OR d.task_type = ANY (%(types)s::text[]))
           AND (%(task_type)s::text IS NULL OR d.task_type = %(task_type)s)
           AND (%(tag)s::text IS NULL OR %(tag)s = ANY (d.tags))
           AND (%(job)s::bigint IS NULL OR d.job = %(job)s)

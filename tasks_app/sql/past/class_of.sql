-- The retention class of a task that is over: its type decides, else its tenant, else it is the default.
        SELECT coalesce(
            (%(type_classes)s::text[])[array_position(%(types)s::text[], task_type::text)],
            (%(tenant_classes)s::text[])[array_position(%(tenants)s::text[], tenant::text)],
            'default')

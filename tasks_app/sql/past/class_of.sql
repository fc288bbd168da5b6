-- The retention class of a task that is over: its type decides, else its tenant, else it is the default. If that keeps it for
-- longer than its tenant may, it is the class that its tenant has instead.
        SELECT CASE WHEN (%(class_days)s::float8[])[array_position(%(class_names)s::text[], k.class)]
                         > (%(bounds)s::float8[])[array_position(%(bounded)s::text[], tenant::text)]
                    THEN (%(shorter)s::text[])[array_position(%(bounded)s::text[], tenant::text)]
                    ELSE k.class END
        FROM (SELECT coalesce(
            (%(type_classes)s::text[])[array_position(%(types)s::text[], task_type::text)],
            (%(tenant_classes)s::text[])[array_position(%(tenants)s::text[], tenant::text)],
            'default') AS class) AS k

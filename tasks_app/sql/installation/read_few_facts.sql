-- read_few_facts: read_facts where the server refuses what only its own files tell, as some that are rented do.
SELECT NULL::bigint, (SELECT oid::bigint FROM pg_database WHERE datname = current_database()), NULL::int, '',
       coalesce(current_setting('cluster_name', TRUE), ''), coalesce(host(inet_server_addr()), ''), pg_is_in_recovery()

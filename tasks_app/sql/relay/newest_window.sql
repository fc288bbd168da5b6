-- newest_window: the last window that was recorded, and the number of the server that we talk to.
-- The number is asked for once a connection: another one means that the rows were restored from elsewhere, and that the
-- numbers of their transactions mean nothing here.
SELECT (SELECT system_identifier FROM pg_control_system()), w.system
FROM (VALUES (1)) AS one LEFT JOIN LATERAL (SELECT system FROM punctual_outbox_window ORDER BY no DESC LIMIT 1) AS w ON TRUE

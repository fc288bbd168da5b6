-- look: read_facts and read_installation in one, for beats and workers, which ask both every few seconds.
SELECT facts.*, noted.*
FROM (
--include read_facts
) AS facts LEFT JOIN (
--include read_installation
) AS noted ON TRUE

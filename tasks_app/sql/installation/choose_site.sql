-- choose_site: from the commit on no site can claim or start: not the one before, and the chosen one (NULL: none) not until
-- it is opened. The epoch is that of the row on which this was decided: whoever comes second decides again.
UPDATE punctual_installation
SET site = NULL, next_site = %(site)s, site_epoch = site_epoch + 1, site_since = clock_timestamp(),
    site_recovery = %(recovery)s
WHERE id = 1 AND site_epoch = %(epoch)s
RETURNING site_epoch

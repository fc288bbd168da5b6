-- open_site: the chosen site may claim and start. Once, whoever of its beats and operators comes first.
UPDATE punctual_installation
SET site = next_site, next_site = NULL
WHERE id = 1 AND site IS NULL AND next_site = %(site)s AND site_epoch = %(epoch)s
RETURNING site

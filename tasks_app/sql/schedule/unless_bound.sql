-- For new_row and new_alike: no row for a tenant that is bound by something that counts.
WHERE
--include unbound

-- close_leaving: nothing more is to be known of a partition, since it is dropped in the same transaction; no row if somebody
-- else has taken it over.
DELETE FROM punctual_leaving WHERE name = %(name)s AND fence = %(fence)s RETURNING name

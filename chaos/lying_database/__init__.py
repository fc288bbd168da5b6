"""A database backend whose commits happen and then report an error, now and then."""

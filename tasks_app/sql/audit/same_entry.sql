-- same_entry: whether there is an entry of this id, whenever it says it was written.
SELECT count(*) FROM punctual_audit_entry WHERE id = %(id)s

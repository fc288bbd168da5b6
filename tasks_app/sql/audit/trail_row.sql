-- trail_row: where the trail of one tenant begins and ends.
SELECT tenant, place, hash, floor_place, floor_hash FROM punctual_audit_trail WHERE tenant = %(tenant)s

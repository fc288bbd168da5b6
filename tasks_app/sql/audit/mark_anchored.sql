-- mark_anchored: the next anchor need not tell of these again, unless they move.
UPDATE punctual_audit_trail SET anchored_place = place, anchored_floor = floor_place
WHERE (anchored_place <> place OR anchored_floor <> floor_place) AND punctual_trail_sound(tenant)
RETURNING tenant

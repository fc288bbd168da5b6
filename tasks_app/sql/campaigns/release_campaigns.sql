-- release_campaigns: a beat that ends leaves its campaigns to the others at once.
UPDATE punctual_campaign SET held_until = NULL WHERE state = 'RUNNING' AND holder = %(holder)s RETURNING id

-- give_back_chores: chores that were taken and not begun are due again, for whoever looks next.
UPDATE punctual_chore SET next_at = clock_timestamp() WHERE name = ANY (%(names)s::text[])

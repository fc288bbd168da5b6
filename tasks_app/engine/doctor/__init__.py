"""The doctor: what must hold in the database between any two transactions, who breaks it, and how that is mended.

Nothing of the engine goes by this: it judges what the others wrote.
"""

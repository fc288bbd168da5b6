"""Campaigns: an order for many tasks, carried out slowly. Begun and changed by people, taken further by the beats."""

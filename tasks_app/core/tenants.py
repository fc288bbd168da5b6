"""Whose a task is. A token of the REST API is of one tenant, and sees nothing of another."""

TENANT_LENGTH = 63
DEFAULT_TENANT = "default"
# The scheduler's own tasks, and those of the apps beside it: no token is of it unless somebody said so twice.
INTERNAL_TENANT = "internal"
CANARY = "PUNCTUAL_CANARY"  # the type of its tasks that fly through every lane: engine/canary.py

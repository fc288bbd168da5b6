"""The lanes: priority classes, each with its own queue, in order of urgency."""

LANES = ("critical", "high", "default", "low", "backfill")
DEFAULT_LANE = "default"
